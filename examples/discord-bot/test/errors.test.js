// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BUSY, BusError, FAILED, STOPPED, disconnected, guestText, isBusy, isDenied, isGone, isPassing, outcomeParts, ownerText,
} from '../src/errors.js';

const sandbox = (name, text) => new BusError(`org.roundtable.Sandbox1.Error.${name}`, text);
const dbus = (name) => new BusError(`org.freedesktop.DBus.Error.${name}`);

test('what passes', () => {
  for (const error of [
    sandbox('ShuttingDown'), dbus('NoReply'), dbus('ServiceUnknown'), dbus('Spawn.ChildExited'), disconnected(),
    new BusError('org.freedesktop.systemd1.NoSuchUnit'),
  ]) {
    assert.ok(isPassing(error), error.name);
  }
  for (const error of [sandbox('Restarted'), sandbox('QueueFull'), dbus('AccessDenied'), new Error('NoReply')]) {
    assert.ok(!isPassing(error), error.name);
  }
});

test('kinds', () => {
  assert.ok(isBusy(sandbox('TooBusy')) && !isBusy(sandbox('QueueFull')));
  assert.ok(isGone(sandbox('NoSuchTurn')) && isGone(dbus('UnknownObject')) && !isGone(disconnected()));
  assert.ok(isDenied(dbus('AccessDenied')) && isDenied(dbus('InteractiveAuthorizationRequired')));
});

test('a guest sees one of four sentences', () => {
  assert.equal(guestText(sandbox('QueueFull', 'secret')), BUSY);
  assert.equal(guestText(sandbox('TooBusy', 'secret')), BUSY);
  const text = 'The speaker has had 10 turns in the time of SpeakerTurns=; try again in 42 s';
  assert.equal(guestText(sandbox('RateLimited', text)), 'Please slow down: I can answer you again in 42 s.');
  assert.equal(guestText(sandbox('RateLimited', 'later')), 'Please slow down.');
  for (const name of ['DiskLow', 'InvalidSpeaker', 'Internal', 'whatever']) assert.equal(guestText(sandbox(name, 'secret')), FAILED);
  assert.equal(guestText(new TypeError('secret')), FAILED);
});

test('outcomes', () => {
  assert.deepEqual(outcomeParts({ outcome: 'replied', parts: ['a', 'b'] }), ['a', 'b']);
  assert.deepEqual(outcomeParts({ outcome: 'failed', reason: 'docker-down', explanation: 'secret', parts: ['Sorry.'] }), ['Sorry.']);
  assert.deepEqual(outcomeParts({ outcome: 'cancelled', parts: ['Sorry.'] }), [STOPPED]);
  assert.deepEqual(outcomeParts({ outcome: 'refused', parts: ['Sorry.'] }), [STOPPED]);
  assert.deepEqual(outcomeParts({ outcome: 'replied', parts: [' \n'] }), [FAILED]);
  assert.deepEqual(outcomeParts({ outcome: 'replied' }), [FAILED]);
});

test('an owner sees the cause', () => {
  assert.equal(ownerText(sandbox('StateNotWritten', 'No space left')), 'That did not work: StateNotWritten: No space left');
  assert.match(ownerText(dbus('AccessDenied')), /polkit/);
  assert.doesNotMatch(ownerText(new Error('a stack')), /stack/);
});

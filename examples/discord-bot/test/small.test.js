// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { again, pauseMs } from '../src/again.js';
import { payload } from '../src/answers.js';
import { Lanes, Seen } from '../src/bounded.js';
import { commandOf } from '../src/commands.js';
import { Owed } from '../src/owed.js';
import { fromVariants, toVariants } from '../src/sandbox.js';

test('pauses grow up to a bound', () => {
  const pauses = [0, 1, 2, 10, 1000].map((attempt) => pauseMs(attempt, { first: 100, most: 1000, random: () => 1 }));
  assert.deepEqual(pauses, [100, 200, 400, 1000, 1000]);
  assert.equal(pauseMs(0, { first: 100, random: () => 0 }), 75);
});

test('trying again ends', async () => {
  let time = 0;
  const clock = { now: () => time, pause: async (ms) => (time += ms) };
  let tries = 0;
  const failing = async () => {
    tries++;
    throw new Error('no');
  };
  await assert.rejects(again(failing, { helps: () => true, forMs: 60_000, ...clock }));
  assert.ok(time <= 60_000 && time > 50_000 && tries > 10);
  tries = 0;
  await assert.rejects(again(failing, { helps: () => false, forMs: 60_000, ...clock }));
  assert.equal(tries, 1);
  tries = 0;
  await assert.rejects(again(failing, { helps: () => true, forMs: 60_000, tries: 3, ...clock }));
  assert.equal(tries, 3);
  tries = 0;
  assert.equal(await again(async () => (++tries < 3 ? failing() : 'done'), { helps: () => true, forMs: 60_000, ...clock }), 'done');
});

test('what was seen is remembered, up to a bound', () => {
  const seen = new Seen(2);
  assert.deepEqual(['a', 'b', 'a', 'c', 'a'].map((id) => seen.add(id)), [true, true, false, true, true]);
});

test('lanes keep their order, and a bound in all', async () => {
  const lanes = new Lanes(2);
  const log = [];
  let at = 0;
  let most = 0;
  const work = (name) => async () => {
    most = Math.max(most, ++at);
    await new Promise((resolve) => setImmediate(resolve));
    at--;
    log.push(name);
    if (name === 'a2') throw new Error('does not stop its lane');
  };
  const all = ['a1', 'b1', 'c1', 'a2', 'a3', 'b2'].map((name) => lanes.run(name[0], work(name)));
  await Promise.allSettled(all);
  assert.equal(log.length, 6);
  assert.equal(most, 2);
  assert.deepEqual(log.filter((name) => name[0] === 'a'), ['a1', 'a2', 'a3']);
});

test('what is owed outlives the process', () => {
  const directory = mkdtempSync(join(tmpdir(), 'owed-'));
  try {
    const owed = new Owed(directory);
    owed.add({ messageId: '1', channelId: '2', text: 'not kept' });
    owed.add({ messageId: '3', channelId: '4' }, Date.now() - 2 * 3_600_000);
    owed.add({ messageId: '5', channelId: '6' });
    owed.remove('5');
    const file = join(directory, 'owed.json');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!readFileSync(file, 'utf8').includes('not kept'));
    // What is older than sandboxd's memory is no use.
    assert.deepEqual(new Owed(directory).list().map(({ messageId, channelId }) => [messageId, channelId]), [['1', '2']]);
    for (const text of ['not JSON', '{}', '[null, {"messageId": "../x", "channelId": "1", "since": 1}]']) {
      writeFileSync(file, text);
      assert.deepEqual(new Owed(directory).list(), []);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  assert.deepEqual(new Owed(undefined).list(), []);
});

test('an answer pings nobody, and each part has its nonce', () => {
  const first = payload('12345678901234567890', '@everyone', 0);
  assert.deepEqual(first.allowedMentions, { parse: [], repliedUser: false });
  assert.deepEqual(first.reply, { messageReference: '12345678901234567890', failIfNotExists: false });
  const later = payload('12345678901234567890', 'more', 1234);
  assert.equal(later.reply, undefined);
  assert.deepEqual(later.allowedMentions, { parse: [], repliedUser: false });
  assert.ok(later.nonce.length <= 25 && later.enforceNonce && later.nonce !== first.nonce);
});

test('dictionaries of the bus', () => {
  const variants = toVariants({ a: 'x', b: true, c: 7, d: undefined });
  assert.deepEqual(Object.entries(variants).map(([key, variant]) => [key, variant.signature]), [['a', 's'], ['b', 'b'], ['c', 'u']]);
  assert.deepEqual(fromVariants(variants), { a: 'x', b: true, c: 7 });
});

test('the command', () => {
  const command = commandOf('root');
  assert.equal(command.name, 'root');
  assert.deepEqual(command.options[0].options.map((verb) => verb.name), ['on', 'off', 'status', 'fresh', 'stop']);
});

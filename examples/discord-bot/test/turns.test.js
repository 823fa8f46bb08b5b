// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { Bus } from '../src/bus.js';
import { BusError, FAILED, isPassing } from '../src/errors.js';
import { Owed } from '../src/owed.js';
import { Turns } from '../src/turns.js';

const sandboxError = (name) => new BusError(`org.roundtable.Sandbox1.Error.${name}`, 'for the operator');
const replied = { outcome: 'replied', ok: true, parts: ['hello'] };

/** A sandboxd that does what its lists say: an error is thrown, all else is given; the last entry stays. */
function scripted(lists) {
  const calls = [];
  const next = (name) => async () => {
    calls.push(name);
    const list = lists[name] ?? [undefined];
    const value = list.length > 1 ? list.shift() : list[0];
    if (value instanceof Error) throw value;
    return value;
  };
  const sandbox = Object.fromEntries(['deliver', 'wait', 'findTurn', 'cancel'].map((name) => [name, next(name)]));
  return { calls, sandbox };
}

async function converse(lists, { addressed = true, during = () => {} } = {}) {
  const { calls, sandbox } = scripted(lists);
  const sent = [];
  const channel = { send: async (message) => sent.push(message.content), sendTyping: async () => {} };
  const owed = new Owed(undefined);
  const turns = new Turns(sandbox, owed);
  const job = { messageId: '1', channelId: '2', channel };
  turns.take(job, async () => ({ mentioned: addressed }));
  during(turns, job);
  await turns.idle();
  assert.deepEqual(owed.list(), []);
  return { calls, sent };
}

const turn = { verdict: 'turn', path: '/turn/a' };

test('pass and drop are the end', async () => {
  for (const verdict of ['pass', 'drop']) {
    assert.deepEqual(await converse({ deliver: [{ verdict }] }), { calls: ['deliver'], sent: [] });
  }
});

test('a turn is waited for and answered', async () => {
  const { calls, sent } = await converse({ deliver: [turn], wait: [replied] });
  assert.deepEqual([calls, sent], [['deliver', 'wait'], ['hello']]);
});

test('a service that is away is asked again', async () => {
  const { calls, sent } = await converse({
    deliver: [sandboxError('ShuttingDown'), turn],
    wait: [{ outcome: '' }, new BusError('org.freedesktop.DBus.Error.NoReply'), replied],
  });
  assert.deepEqual([calls, sent], [['deliver', 'deliver', 'wait', 'wait', 'wait'], ['hello']]);
});

test('a turn that is not found is searched once', async () => {
  const gone = sandboxError('NoSuchTurn');
  const found = await converse({ deliver: [turn], wait: [gone, replied], findTurn: ['/turn/b'] });
  assert.deepEqual([found.calls, found.sent], [['deliver', 'wait', 'findTurn', 'wait'], ['hello']]);
  const stopping = await converse({ deliver: [turn], wait: [gone, gone, replied], findTurn: [sandboxError('ShuttingDown'), '/turn/b'] });
  assert.deepEqual(stopping.sent, ['hello']);
  const lost = await converse({ deliver: [turn], wait: [gone], findTurn: [gone] });
  assert.deepEqual([lost.calls, lost.sent], [['deliver', 'wait', 'findTurn'], [FAILED]]);
});

test('what is refused is told to whoever asked, and to nobody else', async () => {
  const refused = { deliver: [sandboxError('DiskLow')] };
  assert.deepEqual((await converse({ ...refused })).sent, [FAILED]);
  assert.deepEqual((await converse({ ...refused }, { addressed: false })).sent, []);
});

test('a message that is delivered twice', async () => {
  const twice = (turns, job) => turns.take({ ...job }, async () => ({ mentioned: true }));
  const { calls, sent } = await converse({ deliver: [turn], wait: [replied] }, { during: twice });
  assert.deepEqual([calls, sent], [['deliver', 'wait'], ['hello']]);
});

test('a message that is deleted is not answered', async () => {
  const { calls, sent } = await converse({ deliver: [turn], wait: [{ outcome: 'cancelled' }] }, { during: (turns) => turns.withdraw('1') });
  assert.deepEqual(sent, []);
  assert.ok(!calls.includes('wait') || calls.includes('cancel'));
});

test('a flood is bounded, for each channel', async () => {
  const { sandbox, calls } = scripted({ deliver: [{ verdict: 'drop' }] });
  const turns = new Turns(sandbox, new Owed(undefined));
  for (let id = 0; id < 1000; id++) turns.take({ messageId: String(id), channelId: '1' }, async () => ({}));
  assert.equal(turns.underWay, 256);
  turns.take({ messageId: 'another', channelId: '2' }, async () => ({}));
  assert.equal(turns.underWay, 257);
  await turns.idle();
  assert.equal(calls.length, 257);
});

test('the bus is connected to again, and nobody waits for ever', async () => {
  const made = [];
  const bus = new Bus(() => {
    const fake = Object.assign(new EventEmitter(), { _connection: new EventEmitter(), disconnect() {}, call: () => new Promise(() => {}) });
    made.push(fake);
    return fake;
  });
  const call = { destination: 'a.b', path: '/', interface: 'a.b', member: 'C' };
  await assert.rejects(bus.call(call), isPassing);
  made[0].emit('connect');
  const hanging = bus.call(call);
  made[0]._connection.emit('end');
  made[0].emit('error', new Error('late'));
  await assert.rejects(hanging, isPassing);
  while (made.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  made[1].emit('connect');
  made[1].call = async () => ({ body: ['answer'] });
  assert.deepEqual(await bus.call(call), ['answer']);
  assert.equal(made.length, 2);
  bus.close();
});

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { startTyping } from '../src/typing.js';

const tick = async (ms) => {
  mock.timers.tick(ms);
  await new Promise((resolve) => process.nextTick(resolve));
};

test('however many are at it in a channel, it is shown once in a while, until the last has ended', async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  let shown = 0;
  const channel = {
    sendTyping: async () => {
      shown++;
      throw new Error('Discord is away');
    },
  };
  const ends = Array.from({ length: 50 }, () => startTyping(channel));
  await tick(0);
  assert.equal(shown, 1);
  await tick(8000);
  assert.equal(shown, 2);
  const last = ends.pop();
  for (const end of ends) end();
  await tick(8000);
  assert.equal(shown, 3);
  last();
  await tick(60_000);
  assert.equal(shown, 3);
  startTyping(channel)();
  assert.equal(shown, 4);
  mock.timers.reset();
});

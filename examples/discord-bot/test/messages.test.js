// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageReferenceType } from 'discord.js';
import { describe, quotedMessage } from '../src/messages.js';

const SELF = '9000';
const who = { selfId: SELF, owners: new Set(['1']) };

function message(more = {}) {
  return {
    id: '500', channelId: '1001', guildId: '100', cleanContent: 'hello', system: false, webhookId: null, reference: null,
    author: { id: '42', bot: false, system: false, displayName: 'ada' },
    member: { displayName: 'Ada' },
    attachments: new Map(),
    mentions: { users: new Map(), repliedUser: null },
    channel: { isThread: () => false, messages: { cache: new Map() } },
    ...more,
  };
}

const reference = { messageId: '499', type: MessageReferenceType.Default };

test('a plain message', () => {
  assert.deepEqual(describe(message(), null, who), {
    channel: 'discord:1001', thread: undefined, 'speaker-id': '42', 'speaker-name': 'Ada', principal: 'discord:42', text: 'hello',
    'quoted-text': undefined, attachments: false, bot: false, integration: false, direct: false, resolved: true, mentioned: false,
    'replied-to': false, owner: false, 'message-id': '500',
  });
});

test('flags', () => {
  const flag = (name, more, quoted = null) => describe(message(more), quoted, who)[name];
  assert.equal(flag('bot', { author: { id: '2', bot: true } }), true);
  assert.equal(flag('bot', { author: { id: '2', system: true } }), true);
  assert.equal(flag('integration', { webhookId: '3' }), true);
  assert.equal(flag('direct', { guildId: null }), true);
  assert.equal(flag('resolved', { author: null }), false);
  assert.equal(flag('owner', { author: { id: '1' } }), true);
  assert.equal(flag('attachments', { attachments: new Map([['1', {}]]) }), true);
  assert.equal(flag('mentioned', { mentions: { users: new Map([[SELF, {}]]) } }), true);
  assert.equal(flag('replied-to', { reference, mentions: { users: new Map(), repliedUser: { id: SELF } } }), true);
  assert.equal(flag('replied-to', { reference }, { author: { id: SELF }, cleanContent: '' }), true);
  assert.equal(flag('replied-to', { reference }, { author: { id: '42' }, cleanContent: '' }), false);
  assert.equal(flag('quoted-text', { reference }, { author: { id: '42' }, cleanContent: 'said' }), 'said');
});

test('a thread has its own key', () => {
  const channel = { isThread: () => true, parentId: '1001', messages: { cache: new Map() } };
  const { channel: key, thread } = describe(message({ channelId: '1900', channel }), null, who);
  assert.deepEqual([key, thread], ['discord:1001', 'discord:1900']);
});

test('no NUL goes over the bus', () => {
  assert.equal(describe(message({ cleanContent: 'a\0b' }), null, who).text, 'ab');
});

test('the quoted message', async () => {
  const quoted = { id: '499' };
  const cached = { isThread: () => false, messages: { cache: new Map([['499', quoted]]) } };
  assert.equal(await quotedMessage(message()), null);
  assert.equal(await quotedMessage(message({ reference, channel: cached })), quoted);
  assert.equal(await quotedMessage(message({ reference, fetchReference: async () => quoted })), quoted);
  assert.equal(await quotedMessage(message({ reference, fetchReference: () => Promise.reject(new Error('gone')) })), null);
  // A forward and a notice that something was pinned refer to a message, and answer none.
  assert.equal(await quotedMessage(message({ reference: { ...reference, type: MessageReferenceType.Forward }, channel: cached })), null);
  assert.equal(await quotedMessage(message({ reference, system: true, channel: cached })), null);
});

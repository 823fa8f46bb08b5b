// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// A Discord message as Deliver wants it. What is said of it comes from Discord's own fields, never from its text.

import { MessageReferenceType } from 'discord.js';

/** Ids, not names: guests can choose names. */
export const channelKey = (id) => `discord:${id}`;

/** The key of the place whose turns these are: a thread has its own. */
export const placeKey = (message) => channelKey(message.channelId);

// A D-Bus string holds no NUL.
const plain = (text) => (text ?? '').replaceAll('\0', '');

/** Whether it answers another message, which a forward and a notice of a pin do not. */
const answers = (message) =>
  Boolean(message.reference?.messageId) &&
  (message.reference.type ?? MessageReferenceType.Default) === MessageReferenceType.Default &&
  !message.system;

/**
 * The message that it answers, where that can be had. Discord sends it along, so it is asked for only where it did not.
 * @param {import('discord.js').Message} message
 */
export async function quotedMessage(message) {
  if (!answers(message)) return null;
  const known = message.channel.messages.cache.get(message.reference.messageId);
  return known ?? message.fetchReference().catch(() => null);
}

/**
 * @param {import('discord.js').Message} message
 * @param {import('discord.js').Message | null} quoted
 * @param {{selfId: string, owners: Set<string>}} who
 * @returns {object} the keys of Deliver
 */
export function describe(message, quoted, { selfId, owners }) {
  const thread = message.channel.isThread();
  const author = message.author;
  return {
    channel: channelKey(thread && message.channel.parentId ? message.channel.parentId : message.channelId),
    thread: thread ? placeKey(message) : undefined,
    'speaker-id': author?.id ?? '',
    'speaker-name': plain(message.member?.displayName ?? author?.displayName),
    principal: author ? channelKey(author.id) : undefined,
    text: plain(message.cleanContent),
    'quoted-text': quoted ? plain(quoted.cleanContent) : undefined,
    attachments: message.attachments.size > 0,
    bot: Boolean(author?.bot || author?.system),
    integration: Boolean(message.webhookId),
    direct: !message.guildId,
    resolved: Boolean(author),
    mentioned: message.mentions.users.has(selfId),
    'replied-to': answers(message) && (message.mentions.repliedUser ?? quoted?.author)?.id === selfId,
    owner: owners.has(author?.id),
    'message-id': message.id,
  };
}

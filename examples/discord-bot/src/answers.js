// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// Sending an answer: in parts, pinging nobody, each part once.

import { DiscordAPIError, MessageFlags } from 'discord.js';
import { again } from './again.js';

/** Of Discord's messages, in UTF-16 units. */
export const PART_UNITS = 2000;
/** Within the few minutes for which Discord remembers a nonce. */
const FOR_MS = 120_000;

/**
 * One part as Discord wants it. The first one answers the guest's message, if that is still there.
 * The nonce makes a second sending of the same part, after an answer that was lost or a 5xx, the same message.
 */
export function payload(messageId, part, index) {
  return {
    content: part,
    allowedMentions: { parse: [], repliedUser: false },
    flags: MessageFlags.SuppressEmbeds,
    nonce: `${messageId}-${index}`,
    enforceNonce: true,
    ...(index === 0 && { reply: { messageReference: messageId, failIfNotExists: false } }),
  };
}

/** Whether another try may help. 429 is none of ours: the library waits by itself. */
const mayHelp = (error) => !(error instanceof DiscordAPIError);

/**
 * @param {import('discord.js').TextBasedChannel} channel
 * @param {string} messageId  the guest's
 * @param {string[]} parts
 */
export async function sendAnswer(channel, messageId, parts) {
  for (const [index, part] of parts.entries()) {
    await again(() => channel.send(payload(messageId, part, index)), { helps: mayHelp, forMs: FOR_MS, most: 15_000 });
  }
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The client of the library: what it is told of, what it keeps, where it calls.

import { Client, GatewayIntentBits, Options, Partials } from 'discord.js';

const MESSAGES_KEPT = 20; // a channel; for the quoted ones
const PEOPLE_KEPT = 500;

const ourselves = (person) => person.id === person.client.user?.id;

/** @param {{apiUrl: string}} config */
export function makeClient(config) {
  return new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.MessageContent,
      GatewayIntentBits.DirectMessages,
    ],
    // Direct messages, and deletions of messages that are not kept.
    partials: [Partials.Channel, Partials.Message],
    // Of whatever is sent, and said once more where answers are sent.
    allowedMentions: { parse: [], repliedUser: false },
    failIfNotExists: false,
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: MESSAGES_KEPT,
      GuildMemberManager: { maxSize: PEOPLE_KEPT, keepOverLimit: ourselves },
      UserManager: { maxSize: PEOPLE_KEPT, keepOverLimit: ourselves },
      ReactionManager: 0,
      ReactionUserManager: 0,
      PresenceManager: 0,
      VoiceStateManager: 0,
      GuildEmojiManager: 0,
      GuildStickerManager: 0,
    }),
    rest: { api: config.apiUrl },
  });
}

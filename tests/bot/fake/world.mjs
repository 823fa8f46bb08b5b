// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// What there is on the fake Discord: one bot, two servers, channels and a thread. The tests know these ids too (guild.py).

export const SELF = { id: '900000000000000009', username: 'roundtable', discriminator: '0', global_name: null, avatar: null, bot: true };
export const TOKEN = 'token.for.tests';

const text = (id, name, guild) => ({
  id, name, guild_id: guild, type: 0, position: 0, permission_overwrites: [], nsfw: false, parent_id: null, topic: null,
});
const role = (id) => ({
  id, name: '@everyone', color: 0, colors: { primary_color: 0, secondary_color: null, tertiary_color: null }, hoist: false,
  position: 0, permissions: '8', managed: false, mentionable: false, flags: 0,
});
const member = (user) => ({ user, nick: null, roles: [], joined_at: '2026-01-01T00:00:00.000Z', deaf: false, mute: false, flags: 0 });

export const THREAD = {
  id: '1900', name: 'a thread', guild_id: '100', parent_id: '1001', type: 11, owner_id: '42', message_count: 0, member_count: 1,
  total_message_sent: 0,
  thread_metadata: { archived: false, auto_archive_duration: 60, archive_timestamp: '2026-01-01T00:00:00.000Z', locked: false },
};

const guild = (id, channels, threads) => ({
  id, name: `server ${id}`, icon: null, splash: null, owner_id: '1', verification_level: 0, default_message_notifications: 0,
  explicit_content_filter: 0, roles: [role(id)], emojis: [], stickers: [], features: [], mfa_level: 0, system_channel_flags: 0,
  premium_tier: 0, preferred_locale: 'en-US', nsfw_level: 0, joined_at: '2026-01-01T00:00:00.000Z', large: false,
  unavailable: false, member_count: 3, voice_states: [], members: [member(SELF)], channels, threads, presences: [],
  stage_instances: [], guild_scheduled_events: [], soundboard_sounds: [],
});

export const GUILDS = [
  guild('100', Array.from({ length: 9 }, (_, index) => text(String(1001 + index), `channel-${index + 1}`, '100')), [THREAD]),
  guild('200', [text('2001', 'elsewhere', '200')], []),
];

export const CHANNELS = new Map(GUILDS.flatMap((each) => [...each.channels, ...each.threads]).map((each) => [each.id, each]));

let last = 0n;

/** A new id, as Discord makes them: by time, each greater than the one before. */
export function snowflake() {
  const now = (BigInt(Date.now()) - 1420070400000n) << 22n;
  last = now > last ? now : last + 1n;
  return String(last);
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The typing indicator. Discord shows it for ten seconds.

const EVERY_MS = 8000;

/** Channels where it is shown, and for how many: a hundred messages at once are one indicator, not a hundred requests. */
const shown = new WeakMap();

function show(channel, state) {
  if (state.asking) return;
  state.asking = true;
  Promise.resolve(channel.sendTyping())
    .catch(() => {})
    .finally(() => (state.asking = false));
}

/**
 * Shows that somebody is at it, until the function that it gives is called, once. That it cannot be shown hinders nothing.
 * @param {{sendTyping: () => Promise<unknown>}} channel
 * @returns {() => void}
 */
export function startTyping(channel) {
  const state = shown.get(channel) ?? { users: 0, asking: false, timer: null };
  shown.set(channel, state);
  if (state.users++ === 0) {
    show(channel, state);
    state.timer = setInterval(show, EVERY_MS, channel, state);
  }
  return () => {
    if (--state.users === 0) clearInterval(state.timer);
  };
}

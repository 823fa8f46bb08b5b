// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The typing indicator. Discord shows it for ten seconds.

const EVERY_MS = 8000;

/**
 * Shows that somebody is at it, until the function that it gives is called. That it cannot be shown hinders nothing.
 * @param {{sendTyping: () => Promise<unknown>}} channel
 * @returns {() => void}
 */
export function startTyping(channel) {
  let asking = false;
  const show = () => {
    if (asking) return;
    asking = true;
    Promise.resolve(channel.sendTyping())
      .catch(() => {})
      .finally(() => (asking = false));
  };
  show();
  const timer = setInterval(show, EVERY_MS);
  return () => clearInterval(timer);
}

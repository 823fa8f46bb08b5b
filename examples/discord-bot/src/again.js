// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// Trying again, with pauses that grow. Every such attempt has an end.

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long to wait before the next try; a little random, so that many do not come at once.
 * @param {number} attempt  0 for the first pause
 */
export function pauseMs(attempt, { first = 200, most = 5000, random = Math.random } = {}) {
  const pause = Math.min(most, first * 2 ** Math.min(attempt, 20));
  return Math.round(pause * (0.75 + random() / 4));
}

/**
 * Does something until it works, until its error is one that another try does not help, or until time is up: the last error
 * is then thrown.
 * @template T
 * @param {() => Promise<T>} action
 * @param {object} how
 * @param {(error: Error) => boolean} how.helps  whether another try may help
 * @param {number} how.forMs  no try is begun later than this
 * @param {number} [how.tries]  nor more than so many
 * @param {number} [how.most]  the longest pause
 * @returns {Promise<T>}
 */
export async function again(action, { helps, forMs, tries = Infinity, most = 5000, now = Date.now, pause = sleep }) {
  const end = now() + forMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const wait = pauseMs(attempt, { most });
      if (!helps(error) || attempt + 1 >= tries || now() + wait > end) throw error;
      await pause(wait);
    }
  }
}

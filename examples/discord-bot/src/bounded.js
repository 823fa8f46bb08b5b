// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// Collections that cannot grow for ever.

/** Remembers the last so many ids. */
export class Seen {
  #ids = new Set();

  constructor(most) {
    this.most = most;
  }

  /** Whether it is new; it is remembered from now on. */
  add(id) {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > this.most) this.#ids.delete(this.#ids.values().next().value);
    return true;
  }
}

/**
 * Lanes: what has the same key is done one after the other, in its order; of all, at most so many at once. Their number is
 * bounded by whoever uses it.
 */
export class Lanes {
  #tails = new Map();
  #free;
  #waiting = [];

  constructor(most) {
    this.#free = most;
  }

  async #enter() {
    if (this.#free > 0) this.#free--;
    else await new Promise((resolve) => this.#waiting.push(resolve));
  }

  #leave() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }

  /**
   * @template T
   * @param {string} key
   * @param {() => Promise<T>} action
   * @returns {Promise<T>}
   */
  async run(key, action) {
    const before = this.#tails.get(key);
    let end;
    const done = new Promise((resolve) => (end = resolve));
    this.#tails.set(key, done);
    await before;
    await this.#enter();
    try {
      return await action();
    } finally {
      this.#leave();
      if (this.#tails.get(key) === done) this.#tails.delete(key);
      end();
    }
  }
}

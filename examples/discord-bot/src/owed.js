// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The answers that are owed, on the disk: a bot that is started again sends them. Ids only, no words.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { log } from './log.js';

const MOST = 512;
/** sandboxd knows outcomes for an hour. */
const KEPT_MS = 3_600_000;

const isEntry = (entry) =>
  [entry?.messageId, entry?.channelId].every((id) => /^\d{1,20}$/.test(id)) && Number.isFinite(entry.since);

export class Owed {
  #path;
  #entries = new Map();

  /** @param {string | undefined} directory  the unit's StateDirectory=; without one nothing outlives the process */
  constructor(directory = process.env.STATE_DIRECTORY) {
    this.#path = directory && join(directory, 'owed.json');
    for (const entry of this.#read()) this.#entries.set(entry.messageId, entry);
  }

  #read(now = Date.now()) {
    if (!this.#path) return [];
    try {
      const entries = JSON.parse(readFileSync(this.#path, 'utf8'));
      return entries.filter((entry) => isEntry(entry) && now - entry.since < KEPT_MS).slice(-MOST);
    } catch (error) {
      if (error.code !== 'ENOENT') log.warning(`what was owed cannot be read: ${error.message}`);
      return [];
    }
  }

  #write() {
    if (!this.#path) return;
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify([...this.#entries.values()]), { mode: 0o600, flush: true });
      renameSync(`${this.#path}.new`, this.#path);
    } catch (error) {
      log.error(`what is owed cannot be written: ${error.message}`);
    }
  }

  /** @param {{messageId: string, channelId: string}} entry */
  add({ messageId, channelId }, now = Date.now()) {
    if (this.#entries.size >= MOST || this.#entries.has(messageId)) return;
    this.#entries.set(messageId, { messageId, channelId, since: now });
    this.#write();
  }

  /** Answered, or given up. */
  remove(messageId) {
    if (this.#entries.delete(messageId)) this.#write();
  }

  /** @returns {{messageId: string, channelId: string, since: number}[]} */
  list() {
    return [...this.#entries.values()];
  }
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// From a guest's message to its answer. What becomes of a message is sandboxd's decision alone.

import { again } from './again.js';
import { PART_UNITS, sendAnswer } from './answers.js';
import { Lanes, Seen } from './bounded.js';
import { guestText, isBusy, isGone, isPassing, outcomeParts } from './errors.js';
import { log } from './log.js';
import { channelKey } from './messages.js';
import { startTyping } from './typing.js';

/** Messages that are offered or answered: a flood in one channel costs the others nothing. */
const MAX_UNDER_WAY = 2048;
const MAX_IN_CHANNEL = 256;
const MAX_DELIVERIES = 16; // at once; sandboxd takes 32 questions of one caller
const MAX_ANSWERS = 32;
const REMEMBERED = 4096;
/** How long sandboxd may be away before a guest is told, and how long an outcome is waited for. */
const DELIVER_MS = 60_000;
const OUTCOME_MS = 3_600_000;
const BUSY_TRIES = 4;

/** That the service is being restarted and the turn waits on. */
class WaitsOn extends Error {}

const comesBack = (error) => isPassing(error) || isBusy(error) || error instanceof WaitsOn;

/**
 * @typedef {object} Job  a message under way
 * @property {string} messageId
 * @property {string} channelId
 * @property {import('discord.js').TextBasedChannel} channel
 * @property {string} [path]  its turn's object, once there is one
 * @property {boolean} [withdrawn]  its message was deleted: nothing is answered
 */

export class Turns {
  #sandbox;
  #owed;
  #jobs = new Map();
  #perChannel = new Map(); // how many of them
  #dropped = 0;
  #seen = new Seen(REMEMBERED);
  #deliveries = new Lanes(MAX_DELIVERIES);
  #answers = new Lanes(MAX_ANSWERS);
  #idle = []; // who waits until nothing is under way

  /**
   * @param {import('./sandbox.js').Sandbox} sandbox
   * @param {import('./owed.js').Owed} owed
   */
  constructor(sandbox, owed) {
    this.#sandbox = sandbox;
    this.#owed = owed;
  }

  get underWay() {
    return this.#jobs.size;
  }

  /** When nothing is under way any more. */
  async idle() {
    if (this.#jobs.size > 0) await new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * A message that came in; a second time it is nothing new.
   * @param {Job} job
   * @param {() => Promise<object>} describe  gives the keys of Deliver
   */
  take(job, describe) {
    if (!this.#seen.add(job.messageId)) return;
    if (!this.#hasRoom(job)) return;
    // Discord shows messages in their order, so sandboxd is to hear of them in it.
    void this.#under(job, async () => {
      const verdict = await this.#deliveries.run(job.channelId, async () => this.#deliver(job, await describe()));
      if (verdict?.path) await this.#follow(job, verdict.path);
    });
  }

  /**
   * What a bot before this one owed.
   * @param {Job} job
   */
  resume(job) {
    if (!this.#seen.add(job.messageId)) return;
    void this.#under(job, async () => {
      const path = await again(() => this.#sandbox.findTurn(channelKey(job.channelId), job.messageId), {
        helps: comesBack,
        forMs: OUTCOME_MS,
      });
      await this.#follow(job, path);
    });
  }

  /** The guest's message was deleted: its turn ends, waiting or running, and nothing is answered. */
  withdraw(messageId) {
    const job = this.#jobs.get(messageId);
    if (!job || job.withdrawn) return;
    job.withdrawn = true;
    if (job.path) void this.#cancel(job);
  }

  #hasRoom(job) {
    const fits = this.#jobs.size < MAX_UNDER_WAY && (this.#perChannel.get(job.channelId) ?? 0) < MAX_IN_CHANNEL;
    // Not a line for each.
    if (!fits && this.#dropped++ % 1000 === 0) log.warning(`too many messages in channel ${job.channelId}: some are not offered`);
    return fits;
  }

  #count(channelId, by) {
    const now = (this.#perChannel.get(channelId) ?? 0) + by;
    if (now > 0) this.#perChannel.set(channelId, now);
    else this.#perChannel.delete(channelId);
  }

  async #under(job, work) {
    this.#jobs.set(job.messageId, job);
    this.#count(job.channelId, 1);
    try {
      await work();
    } catch (error) {
      log.error(`message ${job.messageId}: ${error.name}: ${error.message}`);
      this.#owed.remove(job.messageId);
    } finally {
      this.#jobs.delete(job.messageId);
      this.#count(job.channelId, -1);
      if (this.#jobs.size === 0) this.#idle.splice(0).forEach((resolve) => resolve());
    }
  }

  async #deliver(job, message) {
    if (job.withdrawn) return undefined;
    // Whoever did not speak to the bot gets no answer of it, whatever goes wrong.
    const addressed = message.mentioned || message['replied-to'];
    let verdict;
    let busy = 0;
    // Before it is asked: else a bot that is killed in the middle of the call would not know of its turn.
    if (addressed) this.#owed.add(job);
    try {
      verdict = await again(() => this.#sandbox.deliver(message), {
        helps: (error) => isPassing(error) || (isBusy(error) && ++busy < BUSY_TRIES),
        forMs: DELIVER_MS,
      });
    } catch (error) {
      log.warning(`message ${job.messageId} was not taken: ${error.name}: ${error.message}`);
      if (addressed) await this.#answer(job, [guestText(error)]);
    }
    if (!verdict?.path) this.#owed.remove(job.messageId);
    return verdict;
  }

  async #follow(job, path) {
    job.path = path;
    this.#owed.add(job);
    if (job.withdrawn) void this.#cancel(job);
    const stop = startTyping(job.channel);
    let parts;
    try {
      parts = outcomeParts(await this.#outcome(job));
    } catch (error) {
      log.error(`turn of message ${job.messageId} has no outcome: ${error.name}: ${error.message}`);
      parts = [guestText(error)];
    } finally {
      stop();
    }
    await this.#answer(job, parts);
    this.#owed.remove(job.messageId);
  }

  /** Asks until there is an outcome: over restarts of sandboxd and of the bus the turn, or its record, stays. */
  async #outcome(job) {
    let searched = false;
    const ask = async () => {
      const outcome = await this.#sandbox.wait(job.path, PART_UNITS);
      if (outcome.outcome === '') throw new WaitsOn('the service is being restarted');
      return outcome;
    };
    const find = async () => {
      job.path = await this.#sandbox.findTurn(channelKey(job.channelId), job.messageId);
      searched = true;
      return ask();
    };
    return again(() => ask().catch((error) => (isGone(error) && !searched ? find() : Promise.reject(error))), {
      helps: comesBack,
      forMs: OUTCOME_MS,
    });
  }

  async #cancel(job) {
    try {
      await again(() => this.#sandbox.cancel(job.path), { helps: comesBack, forMs: DELIVER_MS });
    } catch (error) {
      if (!isGone(error)) log.warning(`message ${job.messageId} was not withdrawn: ${error.name}: ${error.message}`);
    }
  }

  async #answer(job, parts) {
    if (job.withdrawn) return;
    try {
      await this.#answers.run(job.channelId, () => sendAnswer(job.channel, job.messageId, parts));
    } catch (error) {
      log.error(`message ${job.messageId} could not be answered: ${error.name}: ${error.message}`);
    }
  }
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The connection to the system bus: kept up, and made again with growing pauses where it breaks.

import { DBusError, Message, systemBus } from '@jellybrick/dbus-next';
import { pauseMs } from './again.js';
import { BusError, disconnected } from './errors.js';
import { log } from './log.js';

const HELLO_MS = 10_000;
const LONGEST_PAUSE_MS = 15_000;

export class Bus {
  #open;
  #bus = null; // the library's, while it is connected
  #pending = new Set(); // what to do to the calls under way when the connection breaks
  #attempt = 0;
  #timer = null;
  #closed = false;

  /** @param {() => object} open  makes the library's connection; another one in tests */
  constructor(open = systemBus) {
    this.#open = open;
    this.#connect();
  }

  #connect() {
    const bus = this.#open();
    let over = false;
    const lost = (why) => {
      if (over) return;
      over = true;
      clearTimeout(this.#timer);
      bus.disconnect();
      this.#lost(why);
    };
    this.#timer = setTimeout(lost, HELLO_MS, 'no answer');
    bus.on('error', (error) => lost(error.message));
    // The library tells its connection's end to nobody but the connection's own listeners.
    bus._connection.once('end', () => lost('it was closed'));
    bus.once('connect', () => {
      if (over) return;
      clearTimeout(this.#timer);
      this.#attempt = 0;
      this.#bus = bus;
      log.info('connected to the bus');
    });
  }

  #lost(why) {
    this.#bus = null;
    for (const fail of [...this.#pending]) fail(disconnected());
    if (this.#closed) return;
    const pause = pauseMs(this.#attempt++, { most: LONGEST_PAUSE_MS });
    log.warning(`no connection to the bus (${why}); trying again in ${pause} ms`);
    this.#timer = setTimeout(() => this.#connect(), pause);
  }

  /**
   * One method call, without a time-out: a turn may take long. It ends by its answer, or when the connection breaks.
   * @param {{destination: string, path: string, interface: string, member: string, signature?: string, body?: unknown[]}} call
   * @returns {Promise<unknown[]>} the answer's arguments; rejected with a BusError
   */
  call(call) {
    const bus = this.#bus;
    if (!bus) return Promise.reject(disconnected());
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        this.#pending.delete(fail);
        settle(value);
      };
      const fail = (error) => end(reject, error);
      this.#pending.add(fail);
      bus.call(new Message(call)).then(
        (reply) => end(resolve, reply.body),
        (error) => fail(error instanceof DBusError ? new BusError(error.type, error.text) : disconnected()),
      );
    });
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#bus?.disconnect();
  }
}

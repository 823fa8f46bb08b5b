// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The interface of sandboxd, org.roundtable.Sandbox1(5), as far as a bot needs it.

import { Variant } from '@jellybrick/dbus-next';

const NAME = 'org.roundtable.Sandbox1';
const OBJECT = '/org/roundtable/Sandbox1';

/** A dictionary a{sv}: texts and booleans by themselves; numbers of the API's are all u. */
export function toVariants(object) {
  const signatures = { string: 's', boolean: 'b', number: 'u' };
  return Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, new Variant(signatures[typeof value], value)]),
  );
}

/** And back. */
export const fromVariants = (dictionary) =>
  Object.fromEntries(Object.entries(dictionary).map(([key, variant]) => [key, variant.value]));

export class Sandbox {
  #bus;

  /** @param {{call: Function}} bus  a Bus */
  constructor(bus) {
    this.#bus = bus;
  }

  #manager(member, signature, ...body) {
    return this.#bus.call({ destination: NAME, path: OBJECT, interface: `${NAME}.Manager`, member, signature, body });
  }

  #turn(path, member, signature, ...body) {
    return this.#bus.call({ destination: NAME, path, interface: `${NAME}.Turn`, member, signature, body });
  }

  /**
   * @param {object} message  the keys of Deliver
   * @returns {Promise<{verdict: 'pass' | 'drop' | 'turn', reason?: string, turn?: string, path?: string}>}
   */
  async deliver(message) {
    const [verdict, details] = await this.#manager('Deliver', 'a{sv}', toVariants(message));
    return { ...fromVariants(details), verdict };
  }

  /** A turn's outcome, with its text in parts of so many UTF-16 units. */
  async wait(path, chunkSize) {
    const [outcome] = await this.#turn(path, 'Wait', 'a{sv}', toVariants({ 'chunk-size': chunkSize }));
    return fromVariants(outcome);
  }

  async cancel(path) {
    await this.#turn(path, 'Cancel', '');
  }

  async findTurn(channel, messageId) {
    const [path] = await this.#manager('FindTurn', 'ss', channel, messageId);
    return path;
  }

  async setMode(channel, mode) {
    await this.#manager('SetChannelMode', 'ss', channel, mode);
  }

  async mode(channel) {
    const [mode] = await this.#manager('GetChannelMode', 's', channel);
    return mode;
  }

  async startFresh(channel) {
    await this.#manager('StartFresh', 's', channel);
  }

  async status() {
    const [status] = await this.#manager('GetStatus', '');
    return fromVariants(status);
  }

  /** @returns {Promise<{turn: string, channel: string, state: string}[]>} those that wait, run or are being removed */
  async turns() {
    const [turns] = await this.#manager('ListTurns', '');
    return turns.map(([turn, channel, state]) => ({ turn, channel, state }));
  }

  async cancelTurn(turn) {
    await this.#manager('CancelTurn', 's', turn);
  }
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// What the errors of the bus mean for the bot, and what a guest or an owner is told. doc/bots.md has them all.

const SANDBOX = 'org.roundtable.Sandbox1.Error.';
const DBUS = 'org.freedesktop.DBus.Error.';

/** An error that came over the bus. */
export class BusError extends Error {
  /**
   * @param {string} name  its full name
   * @param {string} text
   */
  constructor(name, text = '') {
    super(text);
    this.name = name;
  }
}

/** That our own end of the bus is gone. */
export const disconnected = () => new BusError(`${DBUS}Disconnected`, 'the bus is gone');

const named = (error, ...names) => error instanceof BusError && names.includes(error.name);

const PASSING = [
  `${SANDBOX}ShuttingDown`,
  ...['NoReply', 'Disconnected', 'NameHasNoOwner', 'ServiceUnknown', 'TimedOut', 'Timeout', 'LimitsExceeded'].map(
    (name) => DBUS + name,
  ),
];

/** Whether sandboxd or the bus went away or is being started, and asking again helps. */
export function isPassing(error) {
  return (
    named(error, ...PASSING) ||
    (error instanceof BusError && /^org\.freedesktop\.(DBus\.Error\.Spawn|systemd1)\./.test(error.name))
  );
}

/** Whether there was too much at once; a moment later there may be room. */
export const isBusy = (error) => named(error, `${SANDBOX}TooBusy`);

/** Whether a turn is not known, or over. */
export const isGone = (error) => named(error, `${SANDBOX}NoSuchTurn`, `${DBUS}UnknownObject`);

/** Whether polkit said no. */
export const isDenied = (error) => named(error, `${DBUS}AccessDenied`, `${DBUS}InteractiveAuthorizationRequired`);

// All that guests are ever told but for replies and sandboxd's own texts.
export const BUSY = 'I have too much to do right now. Please ask me again in a moment.';
export const STOPPED = 'I was stopped before I came to an answer.';
export const FAILED = 'Sorry, something went wrong. Please try again later.';

export function slowDown(text) {
  const seconds = /try again in (\d{1,6}) s$/.exec(text)?.[1];
  return seconds ? `Please slow down: I can answer you again in ${seconds} s.` : 'Please slow down.';
}

/** For the guest whose message was not taken. Tells no name and no text of the error. */
export function guestText(error) {
  if (named(error, `${SANDBOX}QueueFull`, `${SANDBOX}TooBusy`)) return BUSY;
  if (named(error, `${SANDBOX}RateLimited`)) return slowDown(error.message);
  return FAILED;
}

/**
 * The parts to send for an outcome.
 * @param {{outcome: string, parts: string[]}} outcome  as Turn.Wait gives it
 */
export function outcomeParts(outcome) {
  if (outcome.outcome === 'cancelled' || outcome.outcome === 'refused') return [STOPPED];
  const parts = (outcome.parts ?? []).filter((part) => part.trim() !== '');
  return parts.length > 0 ? parts : [FAILED];
}

/** For an owner who used a command. */
export function ownerText(error) {
  if (isDenied(error)) return 'This bot has not been given that right (polkit, see the group sandbox-bot-owners).';
  if (!(error instanceof BusError)) return 'That did not work; the journal has more.';
  return `That did not work: ${error.name.split('.').pop()}: ${error.message}`;
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The configuration file, and the token. See sandbox-discord-bot.conf.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is wrong with the configuration, for whoever wrote it: starting again does not help. */
export class ConfigError extends Error {}

const KEYS = {
  RootCommand: { name: 'rootCommand', standard: 'roundtable', read: readCommand },
  Owners: { name: 'owners', standard: '', read: readIds },
  Guilds: { name: 'guilds', standard: '', read: readIds },
  ApiURL: { name: 'apiUrl', standard: 'https://discord.com/api', read: readUrl },
};

function readCommand(value) {
  if (!/^[a-z0-9_-]{1,32}$/.test(value)) throw new ConfigError('is 1 to 32 of a-z, 0-9, _ and -');
  return value;
}

function readIds(value) {
  const ids = value.split(/[\s,]+/).filter(Boolean);
  for (const id of ids) {
    if (!/^\d{1,20}$/.test(id)) throw new ConfigError(`is a list of Discord ids, and "${id}" is none`);
  }
  return new Set(ids);
}

function readUrl(value) {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // The token goes there.
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname))) {
    throw new ConfigError('is an https URL (http on loopback)');
  }
  return value.replace(/\/+$/, '');
}

/**
 * @param {string} text  the file's text
 * @returns {{rootCommand: string, owners: Set<string>, guilds: Set<string>, apiUrl: string}}
 */
export function parseConfig(text) {
  const values = new Map();
  text.split('\n').forEach((line, index) => {
    const at = line.indexOf('=');
    if (/^\s*(#|$)/.test(line)) return;
    if (at < 0) throw new ConfigError(`line ${index + 1}: is not Name=value`);
    const key = line.slice(0, at).trim();
    if (!Object.hasOwn(KEYS, key)) throw new ConfigError(`line ${index + 1}: there is no option ${key}`);
    values.set(key, line.slice(at + 1).trim());
  });
  const config = {};
  for (const [key, { name, standard, read }] of Object.entries(KEYS)) {
    try {
      config[name] = read(values.get(key) || standard);
    } catch (error) {
      throw error instanceof ConfigError ? new ConfigError(`${key}= ${error.message}`) : error;
    }
  }
  return config;
}

function readFile(path, what) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${what} cannot be read: ${error.message}`);
  }
}

export function readConfig(path) {
  const text = readFile(path, 'the configuration');
  try {
    return parseConfig(text);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${path}: ${error.message}`) : error;
  }
}

/** The token is the credential "discord-token" of the unit: never an argument, never in the environment. */
export function readToken(directory = process.env.CREDENTIALS_DIRECTORY) {
  if (!directory) throw new ConfigError('there is no credential: start it by its unit, or set CREDENTIALS_DIRECTORY');
  const token = readFile(join(directory, 'discord-token'), 'the token').trim();
  if (!token) throw new ConfigError('the token is empty');
  return token;
}

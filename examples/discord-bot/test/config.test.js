// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, parseConfig, readConfig, readToken } from '../src/config.js';

test('the shipped configuration is the default, and names every option', () => {
  const text = readFileSync(new URL('../sandbox-discord-bot.conf', import.meta.url), 'utf8');
  const expected = { rootCommand: 'roundtable', owners: new Set(), guilds: new Set(), apiUrl: 'https://discord.com/api' };
  assert.deepEqual(parseConfig(text), expected);
  assert.deepEqual(parseConfig(text.replace(/^#(\w+=)/gm, '$1')), expected);
  assert.deepEqual(parseConfig(''), expected);
});

test('values', () => {
  const config = parseConfig('# a comment\n\n Owners = 1, 22 333\nRootCommand=sand-box\nApiURL=http://127.0.0.1:8500/api/\n');
  assert.deepEqual([...config.owners], ['1', '22', '333']);
  assert.equal(config.rootCommand, 'sand-box');
  assert.equal(config.apiUrl, 'http://127.0.0.1:8500/api');
});

test('what is wrong is named', () => {
  for (const [text, message] of [
    ['Owner=1', /line 1: there is no option Owner/],
    ['\nhello', /line 2: is not Name=value/],
    ['Owners=me', /Owners= is a list of Discord ids, and "me" is none/],
    ['RootCommand=Sandbox', /RootCommand= is 1 to 32/],
    ['ApiURL=http://discord.com/api', /ApiURL= is an https URL/],
    ['ApiURL=nonsense', /ApiURL= is an https URL/],
    ['constructor=1', /there is no option constructor/],
  ]) {
    assert.throws(() => parseConfig(text), (error) => error instanceof ConfigError && message.test(error.message), text);
  }
});

test('and the file where it stands', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bot-config-'));
  const path = join(directory, 'bot.conf');
  writeFileSync(path, 'Owner=1\n');
  assert.throws(() => readConfig(path), (error) => error instanceof ConfigError && error.message.startsWith(`${path}: line 1`));
  assert.throws(() => readConfig(join(directory, 'none')), ConfigError);
  rmSync(directory, { recursive: true });
});

test('no token', () => {
  assert.throws(() => readToken(''), ConfigError);
  assert.throws(() => readToken('/nowhere'), ConfigError);
});

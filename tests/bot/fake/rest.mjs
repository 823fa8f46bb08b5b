// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// REST: what the bot asks of Discord, with Discord's own checks of what is sent.

import { CHANNELS, SELF, TOKEN, snowflake } from './world.mjs';

const fail = (status, code, message) => ({ status, json: { code, message } });

export class Rest {
  requests = [];
  #faults = [];
  #byNonce = new Map();
  #gateway;

  constructor(gateway) {
    this.#gateway = gateway;
  }

  clear() {
    this.requests = [];
    this.#faults = [];
  }

  addFault(fault) {
    this.#faults.push({ times: 1, headers: {}, body: { message: 'as the test wants it', code: 0 }, ...fault });
  }

  answer(method, pathname, body, headers) {
    const path = decodeURIComponent(pathname).replace(/^\/api\/v10/, '');
    const entry = { method, path, body, at: Date.now() };
    this.requests.push(entry);
    if (!/^\/(interactions|webhooks)\//.test(path) && headers.authorization !== `Bot ${TOKEN}`) return fail(401, 0, '401: Unauthorized');
    const fault = this.#faults.find((each) => each.times > 0 && each.method === method && new RegExp(each.path).test(path));
    if (fault) {
      fault.times--;
      entry.status = fault.status;
      if (fault.after) this.#route(method, path, body, entry);
      return { status: fault.status, json: fault.body, headers: fault.headers };
    }
    const answer = this.#route(method, path, body, entry);
    entry.status = answer.status;
    return answer;
  }

  #route(method, path, body, entry) {
    const [, kind, id, what] = path.split('/');
    if (path === '/gateway/bot') {
      return {
        status: 200,
        json: { url: this.#gateway.url, shards: 1, session_start_limit: { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 } },
      };
    }
    if (kind === 'applications') return { status: 200, json: body.map((each) => ({ ...each, id: snowflake(), application_id: SELF.id, version: '1' })) };
    if (kind === 'channels' && !CHANNELS.has(id)) return fail(404, 10003, 'Unknown Channel');
    if (kind === 'channels' && !what && method === 'GET') return { status: 200, json: CHANNELS.get(id) };
    if (kind === 'channels' && what === 'typing') return { status: 204 };
    if (kind === 'channels' && what === 'messages' && method === 'POST') return this.#create(id, body, entry);
    if (kind === 'channels' && what === 'messages') return fail(404, 10008, 'Unknown Message');
    if (kind === 'interactions') return { status: 204 };
    if (kind === 'webhooks') return { status: 200, json: this.#message('1001', body) };
    return fail(404, 0, '404: Not Found');
  }

  #message(channel, { content }) {
    return {
      id: snowflake(), channel_id: channel, author: SELF, content, timestamp: new Date().toISOString(), edited_timestamp: null,
      tts: false, mention_everyone: false, mentions: [], mention_roles: [], attachments: [], embeds: [], pinned: false, type: 0,
    };
  }

  #create(channel, body, entry) {
    if (!body.content?.trim()) return fail(400, 50006, 'Cannot send an empty message');
    if (body.content.length > 2000) return fail(400, 50035, 'Invalid Form Body');
    const key = body.enforce_nonce && `${channel}:${body.nonce}`;
    // The same message again: Discord gives the one that there is.
    if (key && this.#byNonce.has(key)) return { status: 200, json: this.#byNonce.get(key) };
    const message = { ...this.#message(channel, body), guild_id: CHANNELS.get(channel).guild_id, nonce: body.nonce };
    if (key) this.#byNonce.set(key, message);
    entry.created = true;
    this.#gateway.dispatch('MESSAGE_CREATE', message);
    return { status: 200, json: message };
  }
}


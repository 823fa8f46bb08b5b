// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The gateway: sessions that can be resumed, with what happened meanwhile.

import { GUILDS, SELF, TOKEN } from './world.mjs';

const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 };
const INVALID_TOKEN = 4004;
const MOST_KEPT = 5000;

export class Gateway {
  #sessions = new Map(); // id -> { seq, sent, socket }
  #identifies = 0;
  #resumes = 0;
  #refusal = null; // the code for the next one that comes

  /** @param {string} url  where it is */
  constructor(url) {
    this.url = url;
  }

  state() {
    const connected = [...this.#sessions.values()].filter((session) => session.socket).length;
    return { identifies: this.#identifies, resumes: this.#resumes, connected };
  }

  connected(socket) {
    const send = (op, d, more) => socket.send(JSON.stringify({ op, d, s: null, t: null, ...more }));
    let session = null;
    socket.on('error', () => {});
    socket.on('close', () => {
      if (session?.socket === socket) session.socket = null;
    });
    socket.on('message', (data) => {
      const { op, d } = JSON.parse(data);
      if (op === OP.heartbeat) send(OP.ack, null);
      else if ((op === OP.identify || op === OP.resume) && d.token !== TOKEN) socket.close(INVALID_TOKEN);
      else if (op === OP.identify && this.#refusal) this.#refuse(socket);
      else if (op === OP.identify) session = this.#identify(socket);
      else if (op === OP.resume) session = this.#resume(socket, d, send);
    });
    send(OP.hello, { heartbeat_interval: 10_000 });
  }

  #refuse(socket) {
    socket.close(this.#refusal);
    this.#refusal = null;
  }

  #identify(socket) {
    this.#identifies++;
    const id = `session-${this.#identifies}`;
    const session = { id, seq: 0, sent: [], socket };
    this.#sessions.clear(); // one bot, one session: those of a bot that is gone get no events
    this.#sessions.set(id, session);
    this.#send(session, 'READY', {
      v: 10, user: SELF, session_id: id, resume_gateway_url: this.url, application: { id: SELF.id, flags: 0 },
      guilds: GUILDS.map((guild) => ({ id: guild.id, unavailable: true })), private_channels: [], shard: [0, 1],
    });
    for (const guild of GUILDS) this.#send(session, 'GUILD_CREATE', guild);
    return session;
  }

  #resume(socket, { session_id: id, seq }, send) {
    const session = this.#sessions.get(id);
    if (!session) {
      send(OP.invalid, false);
      return null;
    }
    this.#resumes++;
    session.socket = socket;
    for (const event of session.sent.filter((each) => each.s > seq)) socket.send(JSON.stringify(event));
    this.#send(session, 'RESUMED', {});
    return session;
  }

  #send(session, t, d) {
    const event = { op: OP.dispatch, s: ++session.seq, t, d };
    session.sent.push(event);
    if (session.sent.length > MOST_KEPT) session.sent.shift();
    session.socket?.send(JSON.stringify(event));
  }

  dispatch(t, d) {
    for (const session of this.#sessions.values()) this.#send(session, t, d);
  }

  /** close: with that code; forget: and the session with it; op: sends it; refuse: the next to identify, with that code. */
  disturb({ close, forget, op, refuse }) {
    this.#refusal = refuse ?? null;
    for (const session of this.#sessions.values()) {
      const socket = session.socket;
      if (op) socket?.send(JSON.stringify({ op, d: null, s: null, t: null }));
      if (!close) continue;
      session.socket = null; // at once: what happens now is for the session that comes back
      socket?.close(close);
    }
    if (forget) this.#sessions.clear();
  }
}

// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// A Discord for tests, on loopback: as much of REST and of the gateway as the bot's library uses, and a way in for the tests.
//
//     discord.mjs PORT BOT-DIRECTORY      the WebSocket library comes from the bot's own dependencies
//
//     POST /control/dispatch {t, d}       an event; kept for a session that is away, as Discord does
//     POST /control/fault {method, path, status, headers, body, times, after}
//                                         the next answers to such requests (path is a regular expression); "after": what
//                                         was asked for is done, and only then it fails
//     POST /control/gateway {close | op | refuse}  see Gateway.disturb()
//     POST /control/clear                 forget requests and faults
//     GET  /control/state                 {requests, identifies, resumes, connected}

import http from 'node:http';
import { createRequire } from 'node:module';
import { Gateway } from './gateway.mjs';
import { Rest } from './rest.mjs';

const [port, bot] = [Number(process.argv[2]), process.argv[3]];
const { WebSocketServer } = createRequire(`${bot}/package.json`)('ws');

const gateway = new Gateway(`ws://127.0.0.1:${port}`);
const rest = new Rest(gateway);

function control(verb, body) {
  switch (verb) {
    case 'dispatch':
      gateway.dispatch(body.t, body.d);
      return {};
    case 'fault':
      rest.addFault(body);
      return {};
    case 'gateway':
      gateway.disturb(body);
      return {};
    case 'clear':
      rest.clear();
      return {};
    case 'state':
      return { requests: rest.requests, ...gateway.state() };
    default:
      return null;
  }
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text ? JSON.parse(text) : null;
}

const server = http.createServer(async (request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  const body = await read(request);
  const { status, json, headers } = url.pathname.startsWith('/control/')
    ? { status: 200, json: control(url.pathname.slice('/control/'.length), body) }
    : rest.answer(request.method, url.pathname, body, request.headers);
  response.writeHead(status, json === undefined ? {} : { 'content-type': 'application/json', ...headers });
  response.end(json === undefined ? undefined : JSON.stringify(json));
});
const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket) => gateway.connected(socket));
server.listen(port, '127.0.0.1', () => console.log('listening'));

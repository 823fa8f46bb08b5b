// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The bot's start and end.
//
//     main.js [CONFIGURATION]

import { Events, GatewayCloseCodes } from 'discord.js';
import { Seen } from './bounded.js';
import { Bus } from './bus.js';
import { isCommand, obey, registerCommands } from './commands.js';
import { ConfigError, readConfig, readToken } from './config.js';
import { makeClient } from './discord.js';
import { log } from './log.js';
import { describe, quotedMessage } from './messages.js';
import { Owed } from './owed.js';
import { Sandbox } from './sandbox.js';
import { Turns } from './turns.js';

const CONFIGURATION = '/etc/sandbox-discord-bot/sandbox-discord-bot.conf';
/** sysexits.h; the unit does not start it again then. */
const EX_CONFIG = 78;
const LAST_MS = 10_000;
const INTERACTIONS_REMEMBERED = 256;
/** Of discord.js, where Discord does not want us as we are. */
const REFUSED = new Set(['TokenInvalid', 'TokenMissing', 'DisallowedIntents', 'InvalidIntents']);

function end(status, text) {
  if (text) log.error(text);
  process.exit(status);
}

const refusal = (code) =>
  code === GatewayCloseCodes.DisallowedIntents ? 'its intent "Message Content" is not switched on' : `close code ${code}`;

function listen(client, { config, sandbox, turns }) {
  const interactions = new Seen(INTERACTIONS_REMEMBERED);
  const ours = (guildId) => config.guilds.size === 0 || !guildId || config.guilds.has(guildId);

  client.on(Events.MessageCreate, (message) => {
    if (!ours(message.guildId)) return;
    const who = { selfId: client.user.id, owners: config.owners };
    turns.take({ messageId: message.id, channelId: message.channelId, channel: message.channel }, async () =>
      describe(message, await quotedMessage(message), who),
    );
  });
  client.on(Events.MessageDelete, (message) => turns.withdraw(message.id));
  client.on(Events.MessageBulkDelete, (messages) => messages.forEach((message) => turns.withdraw(message.id)));
  client.on(Events.InteractionCreate, (interaction) => {
    if (!ours(interaction.guildId) || !isCommand(interaction, config.rootCommand)) return;
    if (!interactions.add(interaction.id)) return;
    obey(interaction, sandbox, config).catch((error) => log.warning(`a command could not be answered: ${error.message}`));
  });
}

/** What a bot before this one owed is sent now. */
async function payDebts(client, owed, turns) {
  for (const { messageId, channelId } of owed.list()) {
    const channel = await client.channels.fetch(channelId).catch(() => null);
    if (channel?.isTextBased()) turns.resume({ messageId, channelId, channel });
    else owed.remove(messageId);
  }
}

function endOn(signal, { client, bus, turns }) {
  process.once(signal, async () => {
    log.info(`${signal}: ending, ${turns.underWay} under way`);
    for (const event of [Events.MessageCreate, Events.InteractionCreate]) client.removeAllListeners(event);
    const last = setTimeout(() => end(0), LAST_MS);
    await turns.idle();
    clearTimeout(last);
    client.removeAllListeners(Events.ShardReconnecting);
    await client.destroy();
    bus.close();
    end(0);
  });
}

async function main() {
  const config = readConfig(process.argv[2] ?? CONFIGURATION);
  const token = readToken();
  const bus = new Bus();
  const sandbox = new Sandbox(bus);
  const owed = new Owed();
  const turns = new Turns(sandbox, owed);
  const client = makeClient(config);

  client.on(Events.Error, (error) => log.warning(`discord: ${error.message}`));
  client.on(Events.ShardError, (error) => log.warning(`gateway: ${error.message}`));
  client.on(Events.ShardReconnecting, () => log.warning('gateway: connecting again'));
  client.on(Events.ShardResume, () => log.info('gateway: resumed'));
  // Only where coming back does not help: a token or intents that Discord refuses.
  client.on(Events.ShardDisconnect, ({ code }) => end(EX_CONFIG, `gateway: Discord refuses this bot: ${refusal(code)}`));
  client.on(Events.Invalidated, () => end(1, 'gateway: the session is not valid any more'));
  client.once(Events.ClientReady, async () => {
    log.info(`ready as ${client.user.id}`);
    void payDebts(client, owed, turns);
    await registerCommands(client, config).catch((error) => log.error(`the commands are not registered: ${error.message}`));
  });
  listen(client, { config, sandbox, turns });
  for (const signal of ['SIGTERM', 'SIGINT']) endOn(signal, { client, bus, turns });
  await client.login(token).catch((error) => {
    error.message = `no session with Discord: ${error.message}`;
    throw error;
  });
}

main().catch((error) => {
  const refused = error instanceof ConfigError || REFUSED.has(error.code);
  end(refused ? EX_CONFIG : 1, error.message);
});

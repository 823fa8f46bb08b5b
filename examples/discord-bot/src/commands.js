// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The roundtable-sandbox authors
// The owners' slash command: /ROOT sandbox on|off|status|fresh|stop. What polkit lets the bot do is its bound; that only
// owners come this far is ours.

import { ApplicationCommandOptionType, ApplicationIntegrationType, InteractionContextType, MessageFlags } from 'discord.js';
import { again } from './again.js';
import { isBusy, isGone, isPassing, ownerText } from './errors.js';
import { log } from './log.js';
import { channelKey } from './messages.js';

const GROUP = 'sandbox';
const VERBS = {
  on: 'Let guests here be answered by the sandbox',
  off: 'Take this channel out of the sandbox',
  status: 'How it stands here',
  fresh: 'Let the next turn here begin without history',
  stop: 'Stop the turns here that run or wait',
};
/** Discord forgets a command after a quarter of an hour; a change of the mode waits for the turns before it. */
const FOR_MS = 14 * 60_000;

/** @param {string} root  the command's name */
export const commandOf = (root) => ({
  name: root,
  description: 'Of the owners of this bot',
  contexts: [InteractionContextType.Guild],
  integration_types: [ApplicationIntegrationType.GuildInstall],
  options: [
    {
      type: ApplicationCommandOptionType.SubcommandGroup,
      name: GROUP,
      description: 'The sandbox in this channel',
      options: Object.entries(VERBS).map(([name, description]) => ({
        type: ApplicationCommandOptionType.Subcommand,
        name,
        description,
      })),
    },
  ],
});

/**
 * @param {import('discord.js').Client<true>} client
 * @param {{rootCommand: string, guilds: Set<string>}} config
 */
export async function registerCommands(client, config) {
  const commands = [commandOf(config.rootCommand)];
  if (config.guilds.size === 0) await client.application.commands.set(commands);
  for (const guild of config.guilds) await client.application.commands.set(commands, guild);
}

const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

async function switchTo(sandbox, channel, mode) {
  await sandbox.setMode(channel, mode);
  return mode === 'on' ? 'This channel is sandboxed now.' : 'This channel is not sandboxed any more.';
}

async function status(sandbox, channel) {
  const [mode, service, turns] = await Promise.all([sandbox.mode(channel), sandbox.status(), sandbox.turns()]);
  const here = turns.filter((turn) => turn.channel === channel && turn.state !== 'finishing');
  const waiting = here.filter((turn) => turn.state === 'queued').length;
  const running = plural(here.length - waiting, 'turn');
  return [
    `This channel: ${mode === 'on' ? 'sandboxed' : 'not sandboxed'}; ${running} under way, ${waiting} waiting.`,
    `The service: Docker ${service.docker}, image ${service['image-state']}, egress ${service.egress}; ` +
      `${service['turns-running']} under way, ${service['turns-queued']} waiting in all channels.`,
  ].join('\n');
}

async function fresh(sandbox, channel) {
  await sandbox.startFresh(channel);
  return 'The next turn here begins without history.';
}

async function stop(sandbox, channel) {
  const turns = (await sandbox.turns()).filter((turn) => turn.channel === channel && turn.state !== 'finishing');
  let stopped = 0;
  for (const { turn } of turns) {
    try {
      await sandbox.cancelTurn(turn);
      stopped++;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return `Stopped ${plural(stopped, 'turn')}.`;
}

const ACTIONS = {
  on: (sandbox, channel) => switchTo(sandbox, channel, 'on'),
  off: (sandbox, channel) => switchTo(sandbox, channel, 'off'),
  status,
  fresh,
  stop,
};

const quiet = (content) => ({ content: content.slice(0, 2000), allowedMentions: { parse: [] } });

/**
 * Does what an owner asks for, and tells them alone. Each of it may be done twice without harm.
 * @param {import('discord.js').ChatInputCommandInteraction} interaction
 * @param {import('./sandbox.js').Sandbox} sandbox
 * @param {{owners: Set<string>}} config
 */
export async function obey(interaction, sandbox, config) {
  if (!config.owners.has(interaction.user.id)) {
    log.info(`user ${interaction.user.id} is no owner; command refused`);
    await interaction.reply({ ...quiet('Only the owners of this bot may do that.'), flags: MessageFlags.Ephemeral });
    return;
  }
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  const verb = interaction.options.getSubcommand();
  const channel = channelKey(interaction.channelId);
  let answer;
  try {
    answer = await again(() => ACTIONS[verb](sandbox, channel), {
      helps: (error) => isPassing(error) || isBusy(error),
      forMs: FOR_MS,
      tries: 12,
    });
    log.info(`owner ${interaction.user.id}: ${verb} in ${channel}`);
  } catch (error) {
    log.warning(`owner ${interaction.user.id}: ${verb} in ${channel}: ${error.name}: ${error.message}`);
    answer = ownerText(error);
  }
  await interaction.editReply(quiet(answer));
}

/** Whether it is ours. */
export const isCommand = (interaction, root) =>
  interaction.isChatInputCommand() &&
  interaction.commandName === root &&
  interaction.options.getSubcommandGroup(false) === GROUP &&
  Object.hasOwn(ACTIONS, interaction.options.getSubcommand(false) ?? '');

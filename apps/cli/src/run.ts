/** Runs one command line and returns its exit code. Never rejects: errors are printed and set the exit code. */

import { asError, lazy } from '@hangar/core';
import type { Client } from '@hangar/client';
import { similarTo } from '@hangar/core/command-line';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { commands, findCommand } from './commands/index.ts';
import { usage } from './errors.ts';
import { explain } from './explain.ts';
import { completingHints, hangar } from './hints.ts';
import { commandHelp, overview } from './help.ts';
import { platformCommands } from './platform-commands.ts';
import { platformConfig } from './platform.ts';
import type { Session } from './session.ts';
import { plainLines, quoted } from './terminal/plain-text.ts';
import { stylesOf } from './terminal/styles.ts';

export async function run(given: Session, words: readonly string[]): Promise<number> {
  const session = completingHints(given, words);
  try {
    return await runCommand(session, words);
  } catch (error) {
    const { exitCode, message, next } = explain(error);
    const style = stylesOf(session.err, session.env);
    if (message !== undefined) session.err.write(`${style('bad', 'hangar:')} ${plainLines(message)}\n`);
    if (next !== undefined) session.err.write(plainLines(`${indented(next)}\n`));
    if (session.env['HANGAR_DEBUG']) session.err.write(plainLines(`${asError(error).stack ?? ''}\n`));
    return exitCode;
  }
}

const indented = (text: string): string => text.replaceAll(/^/gm, '        ');

async function runCommand(session: Session, [name = 'help', ...words]: readonly string[]): Promise<number> {
  const { program } = session;
  if (name === '--help' || name === '-h') name = 'help';
  if (name === '--version') name = 'version';
  const command = findCommand(name);
  if (!command) throw unknownCommand(name);
  if (command.name === 'help' && words.length === 0) {
    session.out.write(`${overview(commands, { program })}\n`);
    return 0;
  }
  const given = readArguments(command, words);
  if (given.flag('help')) {
    session.out.write(`${commandHelp(command, { program })}\n`);
    return 0;
  }
  return connected(session, command, given);
}

async function connected(session: Session, command: Command, given: ReturnType<typeof readArguments>): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const client = lazy(async (): Promise<Client> => {
    const made = await session.connect(await platformConfig(session, given));
    opened.defer(() => made.close());
    return made;
  });
  return (await command.run({ commands, session, given, client })) ?? 0;
}

function unknownCommand(name: string): Error {
  const own = commands.filter(({ isHidden }) => !isHidden).flatMap((one) => [one.name, ...(one.aliases ?? [])]);
  const known = [...platformCommands.map((one) => one.name), ...own];
  const similar = similarTo(name, known);
  const meant = similar.length > 0 ? `did you mean ${similar.join(' or ')}?\n` : '';
  return usage(`unknown command ${quoted(name)}`, `${meant}all commands: ${hangar('help')}`);
}

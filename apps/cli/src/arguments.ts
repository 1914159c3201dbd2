/** Parses a command line into the arguments of a command. Invalid input is a `Usage` error that states the expected form. */

import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { similarTo } from '@hangar/core/command-line';
import type { CommandSpec, Given, OptionSpec } from './command.ts';
import { connectionOptions } from './connection.ts';
import { CliError, usage } from './errors.ts';
import { hangar } from './hints.ts';
import { quoted } from './terminal/plain-text.ts';

export const helpOption: OptionSpec = { name: 'help', short: 'h', meaning: 'show help for this command' };

/** Returns all options of a command. */
export const optionsOf = (command: CommandSpec): readonly OptionSpec[] => [
  ...command.options,
  ...(command.isConnected ? connectionOptions : []),
  helpOption,
];

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** Throws `Usage`. */
export function readArguments(command: CommandSpec, words: readonly string[]): Given {
  const options = optionsOf(command);
  const { values, positionals } = parsed(command, options, words);
  const given: Given = {
    args: positionals,
    text: (name) => values[name] as string | undefined,
    flag: (name) => (values[name] as boolean | undefined) ?? options.find((one) => one.name === name)?.isOn ?? false,
    has: (name) => values[name] !== undefined,
  };
  if (given.flag('help')) return given;
  checkValues(options, values);
  checkCount(command, positionals);
  return given;
}

function parsed(
  command: CommandSpec,
  options: readonly OptionSpec[],
  words: readonly string[],
): { values: Values; positionals: string[] } {
  try {
    return parseArgs({
      args: [...words],
      options: Object.fromEntries(options.map((one) => [one.name, configOf(one)])),
      allowPositionals: true,
      allowNegative: true,
    });
  } catch (error) {
    throw refusedWords(command, options, error as Error & { code?: string });
  }
}

const configOf = ({ value, short }: OptionSpec): ParseArgsOptionsConfig[string] => ({
  type: value === undefined ? 'boolean' : 'string',
  ...(short === undefined ? {} : { short }),
});

function refusedWords(
  command: CommandSpec,
  options: readonly OptionSpec[],
  error: Error & { code?: string },
): CliError {
  const help = seeHelp(command);
  if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    // Node's message continues with advice for programmers: keep the first sentence.
    const [sentence = ''] = error.message.split(/\.\s|\n|\.$/, 1);
    return new CliError('Usage', `${command.name}: ${quotedOption(sentence)}`, { next: help, cause: error });
  }
  const word = /'(--?[^']*)'/.exec(error.message)?.[1] ?? '';
  const names = options.map(({ name }) => `--${name}`);
  const [similar] = similarTo(word, names);
  return new CliError('Usage', `${command.name}: unknown option ${quoted(word)}`, {
    next: similar === undefined ? help : `did you mean ${similar}? ${help}`,
    cause: error,
  });
}

const quotedOption = (sentence: string): string => quoted(sentence).slice(1, -1);

function checkValues(options: readonly OptionSpec[], values: Values): void {
  for (const { name, value, oneOf } of options) {
    const given = values[name];
    if (value === undefined || given === undefined) continue;
    if (given === '') throw usage(`--${name} must not be empty`);
    if (oneOf && !oneOf.includes(given as string)) {
      throw usage(`--${name} must be ${oneOf.join(' or ')}, not ${quoted(String(given))}`);
    }
  }
}

function checkCount(command: CommandSpec, given: readonly string[]): void {
  const { args } = command;
  const missing = args.filter(({ isOptional }) => !isOptional)[given.length];
  if (missing) throw usage(`${command.name} requires ${missing.name}: ${missing.meaning}`, seeHelp(command));
  if (given.length <= args.length || args.at(-1)?.isRepeated) return;
  throw usage(`${command.name}: unexpected argument ${quoted(given[args.length]!)}`, seeHelp(command));
}

const seeHelp = ({ name }: CommandSpec): string => `see: ${hangar(`${name} --help`)}`;

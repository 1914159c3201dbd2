/** The text of `--help`, generated from the data of the commands. */

import { optionsOf } from './arguments.ts';
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command.ts';
import { platformCommands } from './platform-commands.ts';

const columnsMax = 100;
const meaningColumn = 30;

const exitCodes = `Exit codes:
  0   success
  1   the command failed, or a check found a problem
  2   invalid command line`;

export interface HelpOptions {
  /** `hangar`, or `kubectl hangar`. */
  readonly program: string;
}

export function overview(commands: readonly CommandSpec[], { program }: HelpOptions): string {
  const all = [...platformCommands, ...commands.filter(({ isHidden }) => !isHidden)];
  return [
    'Hangar serves many Kubernetes control planes from one process.',
    `Usage:\n  ${program} COMMAND …`,
    `Commands:\n${all.map(({ name, summary }) => row(name, summary, 22)).join('\n')}`,
    exitCodes,
    `Help for one command: ${program} COMMAND --help`,
  ].join('\n\n');
}

export function commandHelp(command: CommandSpec, { program }: HelpOptions): string {
  const { args, description, summary, examples } = command;
  const options = optionsOf(command);
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    `Usage:\n  ${program} ${usageLine(command)}`,
    ...(command.aliases === undefined ? [] : [`Aliases:\n  ${[command.name, ...command.aliases].join(', ')}`]),
    ...(description === undefined
      ? []
      : [
          description
            .split('\n')
            .map((line) => wrapped(line, columnsMax).join('\n'))
            .join('\n'),
        ]),
    ...(args.length === 0 ? [] : [`Arguments:\n${args.map(({ name, meaning }) => row(name, meaning)).join('\n')}`]),
    `Options:\n${options.map((one) => row(optionText(one), one.meaning)).join('\n')}`,
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((one) => `  ${program} ${one}`).join('\n')}`]),
    exitCodes,
  ].join('\n\n');
}

export const usageLine = ({ name, args }: CommandSpec): string =>
  [name, ...args.map(argumentText), '[options]'].join(' ');

function argumentText({ name, isOptional, isRepeated }: ArgumentSpec): string {
  const text = isRepeated ? `${name}…` : name;
  return isOptional ? `[${text}]` : text;
}

/** Returns `-o, --output FORMAT`, or `--no-wait` for an option that is on by default. */
export function optionText({ name, short, value, isOn }: OptionSpec): string {
  const long = `--${isOn ? 'no-' : ''}${name}${value === undefined ? '' : ` ${value}`}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function row(name: string, meaning: string, column = meaningColumn): string {
  const head = `  ${name}`;
  const lines = wrapped(meaning, columnsMax - column);
  const rest = lines.join(`\n${' '.repeat(column)}`);
  return head.length + 2 > column ? `${head}\n${' '.repeat(column)}${rest}` : head.padEnd(column) + rest;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/**
 * Returns the candidates that a shell offers for the word that is being typed. The scripts of the shells only pass the words and show the
 * result, so that all three offer the same candidates, from the table that the help is generated from.
 */

import { optionsOf } from '../arguments.ts';
import type { CommandSpec, Completes, OptionSpec } from '../command.ts';
import { platformCommands } from '../platform-commands.ts';

export interface Candidate {
  readonly word: string;
  readonly meaning?: string;
}

/** `file` and `folder` are completed by the shell itself. */
export type Offered = readonly Candidate[] | 'file' | 'folder';

export interface CompletionWorld {
  readonly commands: readonly CommandSpec[];
  /** Of the platform that the words select. */
  readonly controlPlanes: (words: readonly string[]) => Promise<readonly string[]>;
  readonly hostedControlPlanes: (words: readonly string[]) => Promise<readonly string[]>;
}

/** `words`: without the program's name; the last one is the one being typed, and may be empty. */
export async function offered(world: CompletionWorld, words: readonly string[]): Promise<Offered> {
  const { before, typed, prefix } = split(words);
  const visible = world.commands.filter(({ isHidden }) => !isHidden);
  const [name, ...rest] = before;
  const names = [...platformCommands, ...visible].map((one) => ({ word: one.name, meaning: one.summary }));
  if (name === undefined) return starting(names, typed);
  const command = visible.find((one) => one.name === name);
  if (!command) return 'file';
  const options = optionsOf(command);
  const option = valueOption(options, rest.at(-1));
  if (option) return ofValue(world, option.oneOf ?? option.completes, { typed, before });
  const assigned = /^(--[a-z-]+)=(.*)$/s.exec(typed);
  if (assigned) {
    const found = options.find((one) => one.value !== undefined && `--${one.name}` === assigned[1]);
    const values = await ofValue(world, found?.oneOf ?? found?.completes, { typed: assigned[2]!, before });
    // Bash ends a word at `=`, and expects only the part behind it.
    return typeof values === 'string' ? values : values.map((one) => ({ ...one, word: `${prefix}${one.word}` }));
  }
  if (typed.startsWith('-')) return starting(optionNames(options), typed);
  if (command.name === 'help') return starting(names, typed);
  const argument = argumentAt(command, positionalsOf(options, rest));
  return ofValue(world, argument?.completes, { typed, before });
}

/** Bash splits `--class=x` into three words. */
function split(words: readonly string[]): { before: string[]; typed: string; prefix: string } {
  const [at, isTorn] = [words.length - 1, words.at(-2) === '=' || words.at(-1) === '='];
  if (!isTorn) {
    const typed = words[at] ?? '';
    return { before: joined(words.slice(0, at)), typed, prefix: typed.slice(0, typed.indexOf('=') + 1) };
  }
  const equals = words[at] === '=' ? at : at - 1;
  const value = equals === at ? '' : words[at]!;
  return { before: joined(words.slice(0, equals - 1)), typed: `${words[equals - 1] ?? ''}=${value}`, prefix: '' };
}

function joined(words: readonly string[]): string[] {
  const all: string[] = [];
  for (let at = 0; at < words.length; at++) {
    if (words[at] === '=' && all.length > 0) all.push(`${all.pop()}=${words[++at] ?? ''}`);
    else all.push(words[at]!);
  }
  return all;
}

/** The option whose value comes next. */
const valueOption = (options: readonly OptionSpec[], word: string | undefined): OptionSpec | undefined =>
  options.find(
    ({ name, short, value }) => value !== undefined && (word === `--${name}` || (short && word === `-${short}`)),
  );

const optionNames = (options: readonly OptionSpec[]): Candidate[] =>
  options.map(({ name, isOn, meaning }) => ({ word: `--${isOn ? 'no-' : ''}${name}`, meaning }));

function positionalsOf(options: readonly OptionSpec[], words: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < words.length; at++) {
    if (valueOption(options, words[at])) at++;
    else if (!words[at]!.startsWith('-')) count++;
  }
  return count;
}

const argumentAt = ({ args }: CommandSpec, at: number) =>
  args[at] ?? (args.at(-1)?.isRepeated ? args.at(-1) : undefined);

async function ofValue(
  world: CompletionWorld,
  completes: Completes | undefined,
  { typed, before }: { readonly typed: string; readonly before: readonly string[] },
): Promise<Offered> {
  if (completes === undefined) return [];
  if (completes === 'file' || completes === 'folder') return completes;
  if (completes !== 'control-plane' && completes !== 'hosted-control-plane')
    return starting(
      completes.map((word) => ({ word })),
      typed,
    );
  const names = await (completes === 'control-plane' ? world.controlPlanes : world.hostedControlPlanes)(before);
  // Candidates pass through a shell: those with special characters are left out.
  return starting(
    names.filter((name) => /^[a-z0-9][-a-z0-9.]*$/.test(name)).map((word) => ({ word })),
    typed,
  );
}

const starting = (all: readonly Candidate[], typed: string): Candidate[] =>
  all.filter(({ word }) => word.startsWith(typed));

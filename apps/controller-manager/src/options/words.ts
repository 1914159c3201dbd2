/**
 * Parses a command line as Kubernetes' programs do (spf13/pflag): `--flag=value`, `--flag value` unless it is a switch, `--switch`,
 * `--switch=false`, `-v 2`, `-v=2`, `-v2`; `_` in a name is `-`. One dash starts a sequence of letters, never a long name. There are no
 * positional arguments: a word behind an unknown flag can only be its value.
 */

import { UsageError } from '@hangar/core/command-line';

/** One flag as given. */
export interface GivenFlag {
  readonly name: string;
  /** Undefined: none was given, as for switches. */
  readonly value: string | undefined;
}

/** Definitions of flags. */
export interface KnownFlags {
  /** `value`: requires one. `switch`: has one only behind `=`. Undefined: unknown flag. */
  kindOf(name: string): 'value' | 'switch' | undefined;
  /** The long name of a letter. */
  longNameOf(letter: string): string | undefined;
}

/** In the given order. Throws a UsageError. */
export function flagsIn(words: readonly string[], known: KnownFlags): GivenFlag[] {
  const rest = [...words];
  const given: GivenFlag[] = [];
  while (rest.length > 0) {
    const word = rest.shift()!;
    if (word.startsWith('--') && word.length > 2) given.push(longFlag(word, rest, known));
    else if (/^-[^-]/.test(word)) given.push(...letters(word, rest, known));
    else throw new UsageError(`unexpected argument ${JSON.stringify(word)}`);
  }
  return given;
}

function longFlag(word: string, rest: string[], known: KnownFlags): GivenFlag {
  const [, typed = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word)!;
  const name = typed.replaceAll('_', '-');
  if (!/^[a-zA-Z0-9][-.a-zA-Z0-9]*$/.test(name)) throw new UsageError(`${JSON.stringify(word)} is not a valid flag`);
  if (value !== undefined) return { name, value };
  return { name, value: valueOf(name, rest, known) };
}

function valueOf(name: string, rest: string[], known: KnownFlags): string | undefined {
  const kind = known.kindOf(name);
  if (kind === 'switch') return undefined;
  if (kind === undefined) return rest[0] !== undefined && isPlainWord(rest[0]) ? rest.shift() : undefined;
  if (rest.length === 0) throw new UsageError(`--${name} requires a value: --${name}=VALUE`);
  return rest.shift();
}

/** Includes negative numbers. */
const isPlainWord = (word: string): boolean => /^(?!-)|^-(\d|$)/.test(word);

/** `-v2` is `-v 2`; `-hv2` is `-h -v 2`. */
function letters(word: string, rest: string[], known: KnownFlags): GivenFlag[] {
  const given: GivenFlag[] = [];
  for (let at = 1; at < word.length; at++) {
    const name = known.longNameOf(word[at]!);
    if (name === undefined) throw unknownLetter(word, at);
    const behind = word.slice(at + 1);
    if (behind.startsWith('=')) return [...given, { name, value: behind.slice(1) }];
    if (known.kindOf(name) === 'switch') given.push({ name, value: undefined });
    else return [...given, { name, value: behind || valueOf(name, rest, known) }];
  }
  return given;
}

function unknownLetter(word: string, at: number): UsageError {
  const isLong = /^-[a-z][-_a-z0-9]+(=|$)/s.test(word);
  const hint = isLong ? `; did you mean -${word.split('=')[0]}?` : '';
  return new UsageError(`unknown shorthand flag "-${word[at]}" in ${JSON.stringify(word.split('=')[0])}${hint}`);
}

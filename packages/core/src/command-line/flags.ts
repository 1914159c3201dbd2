/**
 * Flags of a command: parses them from a command line, and describes them for help, configuration files and documents. A flag is one entry
 * of a table for the parser, and one row of a help group for users; a test compares the two.
 */

import { parseArgs } from 'node:util';
import type { HelpGroup } from './help.ts';
import { similarTo } from './similar.ts';
import { UsageError } from './usage-error.ts';

export interface Flag {
  /** `boolean`: a switch without a value. */
  readonly type: 'string' | 'boolean';
  /** May be repeated. */
  readonly multiple?: boolean;
  readonly short?: string;
  readonly default?: string | boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F extends { readonly type: 'boolean' }
  ? boolean
  : F extends { readonly multiple: true }
    ? string[]
    : string;

/** Values of the flags; those with a default are always set. */
export type FlagValues<F extends Flags> = {
  readonly [Name in keyof F as F[Name] extends { readonly default: unknown } ? Name : never]: ValueOf<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends { readonly default: unknown } ? never : Name]?:
    | ValueOf<F[Name]>
    | undefined;
};

export type GivenValues = Readonly<Record<string, string | boolean | string[]>>;

/** Returns only the given flags, without defaults. Throws a UsageError for an unknown flag or an unexpected argument. */
export function parseFlags(flags: Flags, args: readonly string[]): GivenValues {
  const { rest, switches } = takeSwitches(flags, args);
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, multiple = false, short }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }) },
    ]),
  );
  try {
    const { values } = parseArgs({ args: rest, strict: true, allowPositionals: false, options });
    return { ...(values as GivenValues), ...switches };
  } catch (error) {
    throw new UsageError(problemOf(error as NodeJS.ErrnoException, Object.keys(flags)), { cause: error });
  }
}

/** Replaces the message of Node, which advises to put `--` before arguments: these commands take none. */
function problemOf({ code, message }: NodeJS.ErrnoException, names: readonly string[]): string {
  const [, word] = /'(.*?)'/s.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return `unexpected argument "${word}"; a command comes before its flags: hangar ${word}`;
  }
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const similar = similarTo(
      word!,
      names.map((name) => `--${name}`),
    );
    const meant = similar.length > 0 ? `did you mean ${similar.join(' or ')}? ` : '';
    return `unknown flag "${word}"; ${meant}--help lists all flags`;
  }
  return message;
}

/** `--switch=false` overrides a configuration file; Node supports only switches without a value. */
function takeSwitches(flags: Flags, args: readonly string[]): { rest: string[]; switches: Record<string, boolean> } {
  const switches: Record<string, boolean> = {};
  const rest = args.filter((arg) => {
    const [, name, value] = /^--([^=]+)=(.*)$/.exec(arg) ?? [];
    if (name === undefined || !Object.hasOwn(flags, name) || flags[name]!.type !== 'boolean') return true;
    if (value !== 'true' && value !== 'false') throw new UsageError(`--${name}: "${value}" is neither true nor false`);
    switches[name] = value === 'true';
    return false;
  });
  return { rest, switches };
}

/** Later layers override earlier ones; defaults are below all of them. */
export function layered<F extends Flags>(flags: F, ...layers: readonly GivenValues[]): FlagValues<F> {
  const defaults = Object.entries(flags).flatMap(([name, flag]) =>
    flag.default === undefined ? [] : [[name, flag.default] as const],
  );
  return Object.assign(Object.fromEntries(defaults), ...layers) as FlagValues<F>;
}

/** Description of a flag for documents. */
export interface FlagDescription {
  /** Without dashes, as in a configuration file. */
  readonly name: string;
  /** Placeholder of its value on the command line; absent: it is a switch. */
  readonly argument?: string;
  readonly meaning: string;
  readonly isRepeatable: boolean;
}

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly FlagDescription[];
}

/** Returns all flags in the order of help. Rows that are not flags (environment variables) are left out. */
export function describeFlags(flags: Flags, groups: readonly HelpGroup[]): FlagGroup[] {
  return groups
    .map(({ title, rows }) => ({
      title,
      flags: rows.flatMap(([option, meaning]): FlagDescription[] => {
        const [, name, argument] = /^(?:-\w, )?--([a-z-]+)(?: (.+))?$/.exec(option) ?? [];
        if (name === undefined || !Object.hasOwn(flags, name)) return [];
        const isRepeatable = flags[name]!.multiple === true;
        return [{ name, ...(argument === undefined ? {} : { argument }), meaning, isRepeatable }];
      }),
    }))
    .filter((group) => group.flags.length > 0);
}

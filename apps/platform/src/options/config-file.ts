/**
 * A configuration file: flags of the command line as YAML, without their dashes. Paths in it are relative to the working directory, as on
 * the command line, which takes precedence.
 *
 *     data-dir: /var/lib/hangar
 *     port: 6443
 *     host: [hangar.example.com]
 *     no-demo: true
 */

import { readFileSync } from 'node:fs';
import { parseYaml } from '@hangar/api';
import { UsageError } from '@hangar/core/command-line';
import type { FlagGroup, Flags, GivenValues } from '@hangar/core/command-line';

/** Flags that are only allowed on a command line. */
const notInFiles: ReadonlySet<string> = new Set(['config', 'help', 'version']);

export interface ConfigFileOptions {
  readonly flags: Flags;
  /** Only the help states which of them take `true|false`. */
  readonly groups: readonly FlagGroup[];
}

/** Throws a UsageError that names the file and the key. */
export function readConfigFile(file: string, options: ConfigFileOptions): GivenValues {
  const entries = entriesOf(file);
  return Object.fromEntries(entries.map(([key, value]) => [key, valueOf(file, key, value, options)]));
}

function entriesOf(file: string): [string, unknown][] {
  let read;
  try {
    read = parseYaml(readFileSync(file), { findRepeated: true });
  } catch (error) {
    throw new UsageError(`--config: ${file}: ${(error as Error).message}`, { cause: error });
  }
  const { value, problems } = read;
  if (problems.length > 0) throw new UsageError(`--config: ${file}: ${problems.join(', ')}`);
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new UsageError(`--config: ${file}: the file must be a map of flags, such as "port: 6443"`);
  }
  return Object.entries(value);
}

function valueOf(
  file: string,
  key: string,
  value: unknown,
  { flags, groups }: ConfigFileOptions,
): string | boolean | string[] {
  const refused = (problem: string): UsageError => new UsageError(`--config: ${file}: ${key}: ${problem}`);
  if (!Object.hasOwn(flags, key)) throw refused(unknownKey(key, flags));
  if (notInFiles.has(key)) throw refused('can only be set on the command line');
  const { type, multiple } = flags[key]!;
  if (type === 'boolean') {
    if (typeof value !== 'boolean') throw refused(`${shown(value)} must be true or false`);
    return value;
  }
  if (multiple) {
    if (!Array.isArray(value)) throw refused(`${shown(value)} must be a list`);
    return value.map((one) => {
      if (!isText(one)) throw refused(`${shown(one)} must be a string`);
      return String(one);
    });
  }
  const takesBoolean = groups.some(({ flags: all }) =>
    all.some(({ name, argument }) => name === key && argument === 'true|false'),
  );
  if (takesBoolean && typeof value === 'boolean') return String(value);
  if (!isText(value)) throw refused(`${shown(value)} must be ${takesBoolean ? 'true or false' : 'a string'}`);
  return String(value);
}

const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? String(value);

/** Suggests the flag that was probably meant. */
function unknownKey(key: string, flags: Flags): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '');
  const meant = Object.keys(flags).find((name) => plain(name) === plain(key));
  return meant === undefined ? 'unknown flag' : `unknown flag; did you mean ${meant}?`;
}

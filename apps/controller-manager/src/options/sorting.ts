/** Whose flags are whose: those that are ours, those that every kube-controller-manager is given, and those that nobody needs here. */

import { resolve } from 'node:path';
import { similarTo, UsageError } from '@hangar/core/command-line';
import type { Flag, GivenValues } from '@hangar/core/command-line';
import { flags as ours } from './flags.ts';
import type { KubeFlags } from './kube-help.ts';
import { isOn } from './values.ts';
import { flagsIn } from './words.ts';
import type { GivenFlag, KnownFlags } from './words.ts';

export interface SortedFlags {
  /** Only what is there, without defaults. */
  readonly ours: GivenValues;
  /** As it will be given them: `--name=value`, in the order in which they came. */
  readonly passedOn: readonly string[];
  /** Names of those that are accepted and have no effect. */
  readonly unused: readonly string[];
  /** Names of those that the program does not list: it may have them all the same. */
  readonly unlisted: readonly string[];
}

export interface SortingOptions {
  /** What kube-controller-manager lists; undefined: there is none, and its flags have no effect. */
  readonly kube: KubeFlags | undefined;
  /** For relative names of files. */
  readonly folder: string;
}

type Values = Record<string, string | boolean | string[]>;

const ownFlags = new Map<string, Flag>(Object.entries(ours));

/** The programs serve health and metrics on the loopback interface, to this process: how is not for users to say. */
const isOfServing = (name: string): boolean =>
  /^(authentication|authorization|requestheader|tls|http2|permit)-/.test(name) ||
  ['client-ca-file', 'disable-http2-serving'].includes(name);

/** By the names that kube-controller-manager gives to such flags; all of them are strings. */
const isFile = (name: string): boolean => /-(file|dir|config|kubeconfig|manifest)$|-filepath-/.test(name);

/** Flags of which ours have the words: a name that is none of them is a mistake, and not kube-controller-manager's. */
const isOfOurFamily = (name: string): boolean =>
  /^(cluster-(source|selector|namespace|kubeconfig|shard|peer|memory|port|start|stop|debounce)|leader-elect|kube-(controller-manager|scheduler)|engine|feed-|work-|metrics-token)/.test(
    name,
  );

/**
 * Ours alone, whatever the others are: they say which program is to be asked about those. A word behind a flag that is not known yet is
 * taken for its value, so that ours are found wherever they are.
 */
export function ownFlagsIn(args: readonly string[]): GivenValues {
  const values: Values = {};
  for (const given of flagsIn(args, knownFlags(undefined))) {
    const own = ownFlags.get(given.name);
    if (own) keep(values, own, given);
  }
  return values;
}

/** Throws a UsageError. */
export function sortFlags(args: readonly string[], { kube, folder }: SortingOptions): SortedFlags {
  const values: Values = {};
  const passedOn: string[] = [];
  const unused = new Set<string>();
  const unlisted = new Set<string>();
  for (const given of flagsIn(args, knownFlags(kube))) {
    const { name } = given;
    const own = ownFlags.get(name);
    if (own) keep(values, own, given);
    else if (name === 'master') throw new UsageError('--master is not supported: each cluster has its own address');
    else if (isOfServing(name)) unused.add(name);
    else if (kube) {
      if (!kube.flags.has(name)) unlisted.add(name);
      passedOn.push(typed(given, folder));
    } else if (isMistake(name)) throw unknownFlag(name, undefined);
    else unused.add(name);
  }
  return { ours: values, passedOn, unused: [...unused], unlisted: [...unlisted] };
}

/** The names that may have been meant are ours and those of the program. */
export function unknownFlag(name: string, kube: KubeFlags | undefined): UsageError {
  const similar = similarTo(name, new Set([...ownFlags.keys(), ...(kube?.flags.keys() ?? [])]));
  const meant = similar.length === 0 ? '' : `; did you mean ${similar.map((one) => `--${one}`).join(' or ')}?`;
  const owner = kube ? 'neither this command nor kube-controller-manager has the flag' : 'unknown flag:';
  return new UsageError(`${owner} --${name}${meant || '; see --help for all flags'}`);
}

const knownFlags = (kube: KubeFlags | undefined): KnownFlags => ({
  kindOf(name) {
    const own = ownFlags.get(name);
    if (own) return own.type === 'boolean' ? 'switch' : 'value';
    const listed = kube?.flags.get(name);
    return listed && (listed.takesValue ? 'value' : 'switch');
  },
  longNameOf: (letter) => (letter === 'h' ? 'help' : (kube?.letters.get(letter) ?? (letter === 'v' ? 'v' : undefined))),
});

/** One letter is missing or wrong in a name of ours, or it has our words. What kube-controller-manager has is not known here. */
const isMistake = (name: string): boolean =>
  isOfOurFamily(name) || similarTo(name, ownFlags.keys()).some((one) => Math.abs(one.length - name.length) <= 1);

function keep(values: Values, flag: Flag, { name, value }: GivenFlag): void {
  if (flag.type === 'boolean') values[name] = value === undefined || isOn(name, value);
  else if (!flag.multiple) values[name] = value!;
  else values[name] = [...((values[name] as string[] | undefined) ?? []), value!];
}

/** A flag for another program as it is passed on: `_` in its name is `-`, and a file's name is that of this folder. */
export function passedFlag(flag: string, folder: string): string {
  const [, name, value] = /^--([a-zA-Z][^=]*)(?:=(.*))?$/s.exec(flag) ?? [];
  return name === undefined ? flag : typed({ name: name.replaceAll('_', '-'), value }, folder);
}

function typed({ name, value }: GivenFlag, folder: string): string {
  if (value === undefined) return `--${name}`;
  return `--${name}=${value !== '' && isFile(name) ? resolve(folder, value) : value}`;
}

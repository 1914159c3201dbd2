/** Sorts flags into ours, those that are passed to every kube-controller-manager, and those without effect. */

import { resolve } from 'node:path';
import { similarTo, UsageError } from '@hangar/core/command-line';
import type { Flag, GivenValues } from '@hangar/core/command-line';
import { flags as ours } from './flags.ts';
import type { KubeFlags } from './kube-help.ts';
import { isOn } from './values.ts';
import { flagsIn } from './words.ts';
import type { GivenFlag, KnownFlags } from './words.ts';

export interface SortedFlags {
  /** Only given values, without defaults. */
  readonly ours: GivenValues;
  /** As passed: `--name=value`, in the given order. */
  readonly passedOn: readonly string[];
  /** Names of accepted flags without effect. */
  readonly unused: readonly string[];
  /** Names of flags that the program does not list, but may accept. */
  readonly unlisted: readonly string[];
}

export interface SortingOptions {
  /** Flags that kube-controller-manager lists; undefined: there is none, and its flags have no effect. */
  readonly kube: KubeFlags | undefined;
  /** Base of relative file names. */
  readonly folder: string;
}

type Values = Record<string, string | boolean | string[]>;

const ownFlags = new Map<string, Flag>(Object.entries(ours));

/** The programs serve health and metrics on the loopback interface, to this process: users cannot configure that. */
const isOfServing = (name: string): boolean =>
  /^(authentication|authorization|requestheader|tls|http2|permit)-/.test(name) ||
  ['client-ca-file', 'disable-http2-serving'].includes(name);

/** By the naming convention of kube-controller-manager; all such flags are strings. */
const isFile = (name: string): boolean => /-(file|dir|config|kubeconfig|manifest)$|-filepath-/.test(name);

/** Flags with the prefixes of ours: an unknown one is a typo, not a flag of kube-controller-manager. */
const isOfOurFamily = (name: string): boolean =>
  /^(cluster-(source|selector|namespace|kubeconfig|shard|peer|memory|port|start|stop|debounce)|leader-elect|kube-(controller-manager|scheduler)|engine|feed-|work-|metrics-token)/.test(
    name,
  );

/**
 * Returns only our flags: they select the program that defines the others. A word behind an unknown flag is taken for its value, so that
 * ours are found at any position.
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

/** Suggests names of ours and of the program. */
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

/**
 * Reports whether a name differs from one of ours in one letter, or has one of our prefixes. The flags of kube-controller-manager are not
 * known here.
 */
const isMistake = (name: string): boolean =>
  isOfOurFamily(name) || similarTo(name, ownFlags.keys()).some((one) => Math.abs(one.length - name.length) <= 1);

function keep(values: Values, flag: Flag, { name, value }: GivenFlag): void {
  if (flag.type === 'boolean') values[name] = value === undefined || isOn(name, value);
  else if (!flag.multiple) values[name] = value!;
  else values[name] = [...((values[name] as string[] | undefined) ?? []), value!];
}

/** Returns a flag as it is passed to another program: `_` in its name becomes `-`, and a file name is resolved against this folder. */
export function passedFlag(flag: string, folder: string): string {
  const [, name, value] = /^--([a-zA-Z][^=]*)(?:=(.*))?$/s.exec(flag) ?? [];
  return name === undefined ? flag : typed({ name: name.replaceAll('_', '-'), value }, folder);
}

function typed({ name, value }: GivenFlag, folder: string): string {
  if (value === undefined) return `--${name}`;
  return `--${name}=${value !== '' && isFile(name) ? resolve(folder, value) : value}`;
}

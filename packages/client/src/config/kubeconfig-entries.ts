/**
 * Changes kubeconfig files that other programs change as well: `clusters`, `users` and `contexts` are lists of named entries, and entries
 * of other names stay as they are, known or not. Loads nothing of the client.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { CodedError } from '@hangar/core';

/** Thrown for a file that is not a kubeconfig. The message does not quote the file, which may contain secrets. */
export class NotAKubeconfig extends CodedError<'InvalidKubeconfig'> {
  constructor(message: string) {
    super('InvalidKubeconfig', message);
  }
}

/** The lists of a kubeconfig, each with the field that has the content of an entry. */
export const entryLists = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;
/** Name of a list in a kubeconfig. */
export type EntryList = keyof typeof entryLists;

/** Returns the fields of the entry of a name; of several, of the first, as kubectl does. */
export function entryOf(config: JsonObject, list: EntryList, name: unknown): JsonObject | undefined {
  const found = listOf(config, list).find(isNamed(name));
  const value = found?.[entryLists[list]];
  return isObject(value) ? value : undefined;
}

/** Returns whether the list has an entry of this name. */
export const hasEntry = (config: JsonObject, list: EntryList, name: unknown): boolean =>
  listOf(config, list).some(isNamed(name));

/** Returns the list with the entry in the place of the old one, or last. `change` gets the old fields, or none. */
export function withEntry(
  config: JsonObject,
  list: EntryList,
  name: string,
  change: (old: JsonObject) => object,
): unknown[] {
  const all = listOf(config, list);
  const old = all.find(isNamed(name));
  const inside = old?.[entryLists[list]];
  const now = { ...old, name, [entryLists[list]]: { ...change(isObject(inside) ? inside : {}) } };
  if (!old) return [...all, now];
  return all.flatMap((one) => (one === old ? [now] : isNamed(name)(one) ? [] : [one]));
}

/** Returns the list without the entries of this name. */
export const withoutEntry = (config: JsonObject, list: EntryList, name: string): unknown[] =>
  listOf(config, list).filter((one) => !isNamed(name)(one));

/** Returns `config` if it is a kubeconfig, and an empty one for undefined or null. Throws `NotAKubeconfig`. */
export function insistOnKubeconfig(config: unknown): JsonObject {
  const found = config ?? {};
  if (!isObject(found)) throw new NotAKubeconfig('it is not a kubeconfig');
  const { kind = 'Config', apiVersion = 'v1' } = found;
  if (kind !== 'Config' || apiVersion !== 'v1') throw new NotAKubeconfig('it is not a kubeconfig of version v1');
  return found;
}

/** Puts every entry of `own` into `config`. The current context of `config` stays while the context exists. */
export function mergedEntries(config: JsonObject, own: JsonObject): JsonObject {
  const merged = { ...own, ...config };
  for (const list of Object.keys(entryLists) as EntryList[]) {
    for (const { name } of listOf(own, list) as JsonObject[]) {
      merged[list] = withEntry(merged, list, name as string, () => entryOf(own, list, name) ?? {}) as never;
    }
  }
  if (!hasEntry(merged, 'contexts', merged['current-context'])) {
    merged['current-context'] = own['current-context'] as never;
  }
  return merged;
}

function listOf(config: JsonObject, list: EntryList): unknown[] {
  const all: unknown = config[list] ?? [];
  if (!Array.isArray(all)) throw new NotAKubeconfig(`its ${list} are not a list`);
  return all;
}

const isNamed =
  (name: unknown) =>
  (one: unknown): one is JsonObject =>
    isObject(one) && one['name'] === name;

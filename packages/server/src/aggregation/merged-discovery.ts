/**
 * Merges the discovery of this server with the group-versions of aggregated servers, ordered by the priorities of their APIServices. Pure
 * functions on documents; no requests are made.
 */

import type { JsonObject } from '@hangar/api';
import { compareVersionNames } from '../resources/catalogue.ts';
import { groupPriorityOf, versionPriorityOf } from '../resources/api-services.ts';

/** A group-version that another server serves. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** In the form of aggregated discovery. */
  readonly resources: readonly JsonObject[];
  readonly isFresh: boolean;
}

interface Named {
  readonly name: string;
}

type Version = JsonObject & { readonly version: string };

/** Merges `/apis`. */
export function mergedGroupList(list: JsonObject, remotes: readonly RemoteVersion[]): JsonObject {
  if (remotes.length === 0) return list;
  const groups = (list['groups'] as (JsonObject & Named)[]).map((group) => mergedGroup(group, remotes)!);
  const foreign = foreignGroups(remotes, new Set(groups.map(({ name }) => name as string)));
  const added = foreign.map((name) => mergedGroup({ name }, remotes)! as JsonObject & Named);
  // Groups of equal priority are sorted by the names of their APIServices, which begin with the version.
  const byApiService = ({ name, versions }: JsonObject): string =>
    (versions as Version[]).map(({ version }) => `${version}.${name as string}`).sort()[0]!;
  return { ...list, groups: inserted(groups as (JsonObject & Named)[], added, remotes, byApiService) as never };
}

/** Merges `/apis/{group}`, or an entry of the list; undefined if no server serves any version of it. */
export function mergedGroup(group: JsonObject & Named, remotes: readonly RemoteVersion[]): JsonObject | undefined {
  const { name } = group;
  const own = remotes.filter((one) => one.group === name);
  if (own.length === 0) return group['versions'] === undefined ? undefined : group;
  const versions = mergedVersions(
    name,
    (group['versions'] ?? []) as unknown as Version[],
    own,
    ({ version }): Version => ({ groupVersion: `${name}/${version}`, version }),
  );
  return { ...group, versions: versions as never, preferredVersion: versions[0]! };
}

/** Merges the aggregated form of `/apis`. */
export function mergedAggregated(list: JsonObject, remotes: readonly RemoteVersion[]): JsonObject {
  if (remotes.length === 0) return list;
  type Item = { metadata: { name?: string }; versions: Version[] };
  const nameOf = (item: Item): string => item.metadata.name ?? '';
  const merge = (name: string, versions: readonly Version[]): Item & Named & JsonObject => {
    const own = remotes.filter((one) => one.group === name);
    const item = { metadata: name === '' ? {} : { name }, versions: mergedVersions(name, versions, own, shown) };
    // Only used to sort: see below.
    return Object.defineProperty(item, 'name', { value: name, enumerable: false }) as never;
  };
  const items = (list['items'] as unknown as Item[]).map((item) => merge(nameOf(item), item.versions));
  const foreign = foreignGroups(remotes, new Set(items.map(({ name }) => name as string)));
  const added = foreign.map((name) => merge(name, []));
  return { ...list, items: inserted(items, added, remotes, (item) => nameOf(item as never)) as never };
}

const shown = ({ version, resources, isFresh }: RemoteVersion): Version =>
  ({ version, resources: [...resources], freshness: isFresh ? 'Current' : 'Stale' }) as Version;

/** A remote version replaces this server's version. */
function mergedVersions(
  group: string,
  local: readonly Version[],
  remotes: readonly RemoteVersion[],
  show: (remote: RemoteVersion) => Version,
): Version[] {
  if (remotes.length === 0) return [...local];
  const kept = local.filter(({ version }) => !remotes.some((one) => one.version === version));
  return [
    ...kept.map((version) => ({ version, priority: versionPriorityOf(group, version.version) })),
    ...remotes.map((one) => ({ version: show(one), priority: one.versionPriority })),
  ]
    .sort((a, b) => b.priority - a.priority || compareVersionNames(b.version.version, a.version.version))
    .map(({ version }) => version);
}

const foreignGroups = (remotes: readonly RemoteVersion[], known: ReadonlySet<string>): string[] =>
  [...new Set(remotes.map(({ group }) => group))].filter((group) => group !== '' && !known.has(group));

/** This server's groups keep their order. Each other group is inserted before the first one of a lower priority. */
function inserted<T extends Named>(
  groups: readonly T[],
  added: readonly T[],
  remotes: readonly RemoteVersion[],
  keyOf: (group: T) => string,
): T[] {
  const priorityOf = ({ name }: Named): number =>
    Math.max(...remotes.filter(({ group }) => group === name).map((one) => one.groupPriority));
  const goesBefore = (one: T, other: T, otherPriority: number): boolean => {
    const difference = priorityOf(one) - otherPriority;
    return difference > 0 || (difference === 0 && keyOf(one) < keyOf(other));
  };
  const result = groups.map((group) => ({ group, priority: groupPriorityOf(group.name) }));
  for (const group of added) {
    const at = result.findIndex((other) => goesBefore(group, other.group, other.priority));
    result.splice(at < 0 ? result.length : at, 0, { group, priority: priorityOf(group) });
  }
  return result.map(({ group }) => group);
}

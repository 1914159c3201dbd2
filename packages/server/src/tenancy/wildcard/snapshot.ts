/**
 * Reads all objects of one place in all control planes as of one revision: by the name of the control plane, then by key. The set of
 * control planes is read as of the same revision. Many are read concurrently, and only their current pieces are in memory.
 */

import { breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { compareKeys, prefixRange, successor } from '@hangar/store';
import type { Entry, KeyRange, Revision, Store } from '@hangar/store';
import { isTenantPath, rootPath } from '../layout.ts';
import { tenantsPrefix } from '../tenant.ts';
import type { Foundations } from './foundations.ts';
import type { Place } from './place.ts';

export interface SnapshotOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly place: Place;
  readonly foundations: Foundations;
  readonly at: Revision;
}

/** Position at which a list continues. */
export interface Position {
  readonly cluster: string;
  /** First key, below the place. */
  readonly key: string;
}

export const beginning: Position = { cluster: '', key: '' };

const namesAtOnce = 512;
/** Starts low: a client that wants one page may get it from the first few. */
const clustersAtOnceMin = 4;
const clustersAtOnceMax = 32;
/** Limit per control plane while several are read concurrently; the rest of one is read in larger pieces. */
const firstEntries = 64;
const furtherEntries = 1_000;

interface Piece {
  readonly entries: readonly Entry[];
  /** Undefined: the control plane has no more entries. */
  readonly more: (() => Promise<Piece>) | undefined;
}

const nothing: Piece = { entries: [], more: undefined };

/** Yields non-empty pieces. Rejects with `Compacted` if the revision is compacted before the end. */
export async function* snapshot(
  options: SnapshotOptions,
  from: Position = beginning,
): AsyncGenerator<readonly Entry[], void, void> {
  let width = clustersAtOnceMin;
  for await (const names of clusterNames(options, from.cluster)) {
    for (let at = 0; at < names.length;) {
      const some = names.slice(at, at + width);
      at += width;
      const pieces = await Promise.all(some.map((name) => firstOf(options, name, from)));
      for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
        if (piece.entries.length > 0) yield piece.entries;
        while (piece.more) {
          piece = await piece.more();
          if (piece.entries.length > 0) yield piece.entries;
        }
      }
      width = Math.min(clustersAtOnceMax, 2 * width);
      // Some drivers respond without waiting, so yield to the event loop.
      await breathe(options.clock);
    }
  }
}

/** Returns the objects of one control plane in the place. */
export async function clusterSnapshot(
  options: SnapshotOptions,
  view: Store,
  cluster: string,
): Promise<readonly Entry[]> {
  const { place, foundations, at } = options;
  const range = prefixRange(`${foundations.prefixOf(cluster)}${place.own}`);
  return (await view.range(range, { atRevision: at })).entries;
}

async function firstOf(options: SnapshotOptions, cluster: string, from: Position): Promise<Piece> {
  const { place, foundations, at } = options;
  const records = await foundations.recordsOfTenant(cluster, at);
  if (!foundations.isVisible(cluster, records)) return nothing;
  const prefix = `${foundations.prefixOf(cluster)}${place.own}`;
  const range = { ...prefixRange(prefix), start: cluster === from.cluster ? `${prefix}${from.key}` : prefix };
  return read(foundations.view(cluster, records), range, at, firstEntries);
}

async function read(view: Store, range: KeyRange, at: Revision, limit: number): Promise<Piece> {
  const { entries, more } = await view.range(range, { atRevision: at, limit });
  if (!more) return { entries, more: undefined };
  const rest = { ...range, start: successor(entries.at(-1)!.key) };
  return { entries, more: () => read(view, rest, at, furtherEntries) };
}

/** Yields the names of control planes in order, starting at one, including the management plane. */
async function* clusterNames(
  { store, foundations, at }: SnapshotOptions,
  from: string,
): AsyncGenerator<string[], void, void> {
  const prefix = `${foundations.prefixOf(rootPath)}${tenantsPrefix}`;
  const { end } = prefixRange(prefix);
  let start = `${prefix}${from}`;
  let isRootToCome = compareKeys(from, rootPath) <= 0;
  for (;;) {
    const range = { start, ...(end === undefined ? {} : { end }) };
    const { entries, more } = await store.range(range, { atRevision: at, limit: namesAtOnce, keysOnly: true });
    const names = entries.map(({ key }) => key.slice(prefix.length)).filter(isTenantPath);
    if (isRootToCome && (!more || names.at(-1)! > rootPath)) {
      isRootToCome = false;
      names.push(rootPath);
      names.sort();
    }
    yield names;
    if (!more) return;
    start = successor(entries.at(-1)!.key);
  }
}

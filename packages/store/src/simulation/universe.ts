/**
 * A universe is a store as one group of clients sees it: the plain store, or one tenant's layered view. Universes share
 * one store and its revisions, and must otherwise not notice each other.
 */

import { everything, prefixRange } from '../keys.ts';
import type { Entry, KeyRange, Revision, Store } from '../contract.ts';
import { firstRevision } from '../engine/rows.ts';
import { BaseLayer } from '../layered/base-layer.ts';
import { layeredStore } from '../layered/layered-store.ts';
import type { Profile } from './profile.ts';

export interface Universe {
  readonly name: string;
  /** Every key of the universe begins with it. */
  readonly root: string;
  readonly keys: readonly string[];
  /** The range that covers all of it. */
  readonly all: KeyRange;
  readonly widestPrefix: string;
  /** Visible without ever having been written. */
  readonly base: readonly Entry[];
  view(store: Store): Store;
}

export const baseRevision: Revision = firstRevision;

/** The last two sort differently by UTF-8 bytes and by UTF-16 units. */
const names = ['0', '1', '10', '2', 'é', '\ufffd', '\u{1f680}'];
/** One begins like another: a tenant is found by position, never by a substring. */
const tenantNames = ['t/1', 't/10', 't/2'];
const directories = ['a/', 'b/', 'a/b/'];

export function makeUniverses(profile: Profile): Universe[] {
  const relative = relativeKeys(profile.keys);
  const universes: Universe[] = [plain(profile.tenants > 0 ? 'plain/' : '', relative)];
  // One base for all tenants, as in production: a view that changed it would change it for the others.
  const baseKeys = relative.filter((_, at) => at % 2 === 0);
  const base = new BaseLayer(baseKeys.map((key) => ({ key, value: baseValue(key) })));
  for (const name of tenantNames.slice(0, profile.tenants)) {
    universes.push(tenantUniverse(name, relative, { base, baseKeys }));
  }
  return universes;
}

function plain(root: string, relative: readonly string[]): Universe {
  const keys = relative.map((key) => root + key);
  return { name: 'plain', root, keys, all: prefixRange(root), widestPrefix: root, base: [], view: (store) => store };
}

function tenantUniverse(
  name: string,
  relative: readonly string[],
  { base, baseKeys }: { base: BaseLayer; baseKeys: readonly string[] },
): Universe {
  const root = `${name}/`;
  return {
    name,
    root,
    keys: relative.map((key) => root + key),
    all: everything,
    widestPrefix: '',
    base: baseKeys.map((key) => baseEntry(root + key, baseValue(key))),
    view: (store) => layeredStore({ store, prefix: root, base, baseRevision }),
  };
}

function baseEntry(key: string, value: Uint8Array): Entry {
  return { key, value, createRevision: baseRevision, modRevision: baseRevision, version: 1, lease: undefined };
}

function baseValue(key: string): Uint8Array {
  return Buffer.from(`base|${key}`);
}

function relativeKeys(count: number): string[] {
  const keys: string[] = [];
  for (let at = 0; keys.length < count; at++) {
    keys.push(directories[at % directories.length]! + names[Math.floor(at / directories.length) % names.length]!);
  }
  return keys;
}

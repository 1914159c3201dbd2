/**
 * Base layer of all tenants: the initial objects of a control plane, held in memory once for all tenants. Each tenant sees it with its own
 * UIDs and times, which are the same on every replica and after every restart.
 *
 * The base excludes objects that differ between tenants: certificates and objects derived from them (`own-config-maps.ts`).
 */

import { assert, seededRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { openMemoryStore, prefixRange, SortedMap } from '@hangar/store';
import type { Base, BaseEntry, KeyRange } from '@hangar/store';
import type { BootstrapOptions } from '../../bootstrap/objects.ts';
import { ownText } from '../../objects/own-memory.ts';
import { openControlPlane } from '../../open-control-plane.ts';
import { timestamp } from '../../verbs/metadata.ts';
import type { TenantIdentity } from '../identity.ts';
import { RenderedValue } from './rendered.ts';

export interface TenantBase {
  /** Number of objects. */
  readonly size: number;
  /** The base includes the objects that controllers would create in its namespaces. */
  readonly hasAccounts: boolean;
  /** Returns the view of one tenant. It is free to create, and does not cache values. */
  layer(identity: TenantIdentity): Base;
}

/** Any time that does not occur elsewhere in the objects. */
const modelTimeMs = Date.UTC(2001, 1, 3, 4, 5, 6);
const modelSeed = 5;

/** Parameters of the templates; not visible to tenants. */
interface ModelWorld {
  readonly timeMs?: number;
  readonly seed?: number;
}

/** Returns the same objects for the same options. They differ between servers only in the address of the server. */
export async function openTenantBase(
  options: BootstrapOptions,
  { timeMs = modelTimeMs, seed = modelSeed }: ModelWorld = {},
): Promise<TenantBase> {
  const clock = standingClock(timeMs);
  const entries = await bornWith(options, clock, seed);
  const keys = new Map(entries.map(({ key, value }) => [uidIn(value), key]));
  assert(keys.size === entries.length, 'every object of the base has its own uid');
  const values = new SortedMap<RenderedValue>();
  for (const { key, value } of entries) values.set(key, new RenderedValue(value, { time: timestamp(clock), keys }));
  return {
    size: values.size,
    hasAccounts: options.hasAccounts ?? false,
    layer: (identity) => new TenantLayer(values, identity),
  };
}

/** Returns the objects that a new control plane would store, created by the same steps in a temporary store. */
async function bornWith(options: BootstrapOptions, clock: Clock, seed: number): Promise<BaseEntry[]> {
  const store = await openMemoryStore();
  try {
    const random = seededRandom(seed);
    const opened = await openControlPlane({
      name: 'base',
      prefix: '/registry',
      store,
      clock,
      random,
      bootstrap: options,
    });
    const { prefix } = opened.plane;
    opened.close();
    const { entries } = await store.range(prefixRange(prefix));
    return entries.map(({ key, value }) => ({ key: key.slice(prefix.length), value }));
  } finally {
    await store.close();
  }
}

function uidIn(value: Uint8Array): string {
  const { metadata } = JSON.parse(Buffer.from(value).toString()) as { metadata: { uid: string } };
  return metadata.uid;
}

/** Clock that stands still and never fires timers. */
function standingClock(timeMs: number): Clock {
  const timer = { cancel() {} };
  return { now: () => timeMs, monotonicMs: () => 0, after: () => timer, soon: () => timer };
}

const createdAtPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

class TenantLayer implements Base {
  readonly #values: SortedMap<RenderedValue>;
  readonly #seed: string;
  readonly #time: Uint8Array;

  constructor(values: SortedMap<RenderedValue>, { seed, createdAt }: TenantIdentity) {
    assert(createdAtPattern.test(createdAt), 'the creation time of a tenant has seconds precision');
    this.#values = values;
    this.#seed = seed;
    this.#time = ownText(createdAt);
  }

  get size(): number {
    return this.#values.size;
  }

  has(key: string): boolean {
    return this.#values.get(key) !== undefined;
  }

  value(key: string): Uint8Array | undefined {
    return this.#values.get(key)?.render(this.#seed, this.#time);
  }

  valueLength(key: string): number {
    return this.#values.get(key)?.length ?? 0;
  }

  keysIn(range: KeyRange): string[] {
    return Array.from(this.#values.entries(range), ([key]) => key);
  }
}

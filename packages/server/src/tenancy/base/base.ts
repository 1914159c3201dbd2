/**
 * The base layer that all tenants stand on: what a control plane is born with, once in memory, however many tenants there
 * are. Each sees it with uids and times of its own, the same ones on every replica and after every restart.
 *
 * Not in it is what cannot be the same for all: certificates, and what is made of them (`own-config-maps.ts`).
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
  /** Of objects. */
  readonly size: number;
  /** It has what controllers would make in its namespaces. */
  readonly hasAccounts: boolean;
  /** What one tenant sees of it. Costs nothing, and keeps nothing of what it gives. */
  layer(identity: TenantIdentity): Base;
}

/** Any time would do that stands nowhere else in the objects. */
const modelTimeMs = Date.UTC(2001, 1, 3, 4, 5, 6);
const modelSeed = 5;

/** What the templates are made in: nothing of it is seen. */
interface ModelWorld {
  readonly timeMs?: number;
  readonly seed?: number;
}

/** The same objects for the same options: they differ between servers only in what tells where the server is. */
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

/** The objects that a new control plane would store, by the same steps, in a store that is thrown away. */
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

/** It is always the same moment, and nothing ever happens later. */
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

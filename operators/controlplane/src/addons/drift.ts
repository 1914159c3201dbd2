/**
 * What others do to the objects of addons inside of control planes, as far as the host tells: then the addons are applied again. Nothing is
 * kept for a control plane in which nothing happens, and little for one that does its worst.
 *
 * Our own writes are told, too: they are known by the version that was answered. What is changed again and again is put right after
 * ten seconds, then after twenty, at last every ten minutes: a tenant cannot keep the operator busy.
 */

import { aborted } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { groupOf } from '@hangar/client';
import type { RawSource } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';
import { byPath } from '../control-plane/indexes.ts';
import type { InsideChange, TenantHost } from '../host/index.ts';
import type { Item } from './inventory.ts';

/** By then our own writes have been answered. */
const settleMs = 100;
const [pauseMinMs, pauseMaxMs] = [10_000, 600_000];
/** Of our own writes, waiting to be told: beyond this, one is taken for somebody else's, which costs a look. */
const ownMax = 4_096;
/** Of one control plane: beyond this, one that is none stands for the rest. */
const objectsMax = 1_024;
const theRest = '';

export interface Applied {
  readonly path: string;
  readonly item: Item;
  readonly resourceVersion: string;
}

/** Objects, and the version that was told last. */
export type Changes = ReadonlyMap<string, string>;

interface Repair {
  readonly atMs: number;
  readonly pauseMs: number;
}

export class Drift {
  readonly #changes: TenantHost['changes'];
  readonly #clock: Clock;
  readonly #changed = new Map<string, Map<string, string>>();
  readonly #own = new Map<string, string>();
  /** The last time that somebody's change was put right, the oldest first; for as long as it matters. */
  readonly #repairs = new Map<string, Repair>();

  constructor({ changes }: Pick<TenantHost, 'changes'>, clock: Clock) {
    this.#changes = changes;
    this.#clock = clock;
  }

  /** Of the controller of ControlPlanes. */
  readonly source: RawSource = async ({ cluster, enqueue }, signal) => {
    if (!this.#changes) return aborted(signal);
    await this.#changes((change) => {
      const wanting = [...cluster.cache.informer(ControlPlane).byIndex(byPath.name, change.path)];
      if (wanting.length === 0) return this.forget(change.path);
      this.#note(change);
      const afterMs = Math.max(settleMs, this.#waitMs(change.path));
      for (const { metadata } of wanting) enqueue({ name: metadata.name! }, { afterMs });
    }, signal);
  };

  /** Written by us. */
  applied({ path, item, resourceVersion }: Applied): void {
    if (!this.#changes) return;
    this.#own.set(`${path} ${objectOf(item)}`, resourceVersion);
    if (this.#own.size > ownMax) this.#own.delete(this.#own.keys().next().value!);
  }

  /** In how many milliseconds what others changed may be put right: 0 is now, undefined is never, for nobody changed anything. */
  dueMs(path: string): number | undefined {
    const changed = this.#changed.get(path);
    if (!changed) return undefined;
    for (const [object, resourceVersion] of changed) {
      const key = `${path} ${object}`;
      if (this.#own.get(key) !== resourceVersion) continue;
      this.#own.delete(key);
      changed.delete(object);
    }
    if (changed.size > 0) return this.#waitMs(path);
    this.#changed.delete(path);
    return undefined;
  }

  /** What was changed until now, for `settled`. */
  seen(path: string): Changes {
    return new Map(this.#changed.get(path));
  }

  /** All of it was looked after: applied, or refused, which is said elsewhere. What came meanwhile stays. */
  settled(path: string, seen: Changes): void {
    if (seen.size === 0) return;
    const changed = this.#changed.get(path);
    for (const [object, resourceVersion] of seen) {
      if (changed?.get(object) === resourceVersion) changed.delete(object);
    }
    if (changed?.size === 0) this.#changed.delete(path);
    this.#noteRepair(path);
  }

  /** It has no addons, or is gone. */
  forget(path: string): void {
    this.#changed.delete(path);
  }

  #note({ path, object, resourceVersion }: InsideChange): void {
    const known = this.#changed.get(path) ?? new Map<string, string>();
    this.#changed.set(path, known);
    if (known.has(object) || known.size < objectsMax) known.set(object, resourceVersion);
    else known.set(theRest, resourceVersion);
  }

  #waitMs(path: string): number {
    const repair = this.#repairs.get(path);
    return repair ? Math.max(0, repair.atMs + repair.pauseMs - this.#clock.monotonicMs()) : 0;
  }

  #noteRepair(path: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, { atMs, pauseMs }] of this.#repairs) {
      if (atMs + 2 * pauseMs > nowMs) break;
      this.#repairs.delete(old);
    }
    const before = this.#repairs.get(path);
    const isSoon = before !== undefined && before.atMs + 2 * before.pauseMs > nowMs;
    this.#repairs.delete(path);
    this.#repairs.set(path, { atMs: nowMs, pauseMs: isSoon ? Math.min(2 * before.pauseMs, pauseMaxMs) : pauseMinMs });
  }
}

/** As a change names it. */
const objectOf = (item: Item): InsideChange['object'] =>
  `${item.plural}.${groupOf(item)}/${item.namespace ?? ''}/${item.name}`;

/**
 * Detects changes of addon objects inside control planes, as far as the host reports them: then the addons are applied again. Keeps nothing
 * for an idle control plane, and little for a hostile one.
 *
 * Our own writes are reported, too: they are recognised by the returned resourceVersion. An object that is changed repeatedly is repaired
 * after ten seconds, then after twenty, finally every ten minutes: a tenant cannot keep the operator busy.
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
/** Maximum number of our own writes that await their event: beyond this, one is taken for a foreign change, which costs a pass. */
const ownMax = 4_096;
/** Per control plane: beyond this, a placeholder stands for the rest. */
const objectsMax = 1_024;
const theRest = '';

export interface Applied {
  readonly path: string;
  readonly item: Item;
  readonly resourceVersion: string;
}

/** Objects, and their last reported version. */
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
  /** The last repair of each control plane, the oldest first; kept while it affects the delay. */
  readonly #repairs = new Map<string, Repair>();

  constructor({ changes }: Pick<TenantHost, 'changes'>, clock: Clock) {
    this.#changes = changes;
    this.#clock = clock;
  }

  /** Source of the controller of ControlPlanes. */
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

  /** Records one of our own writes. */
  applied({ path, item, resourceVersion }: Applied): void {
    if (!this.#changes) return;
    this.#own.set(`${path} ${objectOf(item)}`, resourceVersion);
    if (this.#own.size > ownMax) this.#own.delete(this.#own.keys().next().value!);
  }

  /** Returns the delay before foreign changes may be repaired: 0 is now, undefined means that there are none. */
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

  /** Returns the changes so far, for `settled`. */
  seen(path: string): Changes {
    return new Map(this.#changed.get(path));
  }

  /** Called when these changes are handled: applied, or refused, which is reported elsewhere. Later changes remain. */
  settled(path: string, seen: Changes): void {
    if (seen.size === 0) return;
    const changed = this.#changed.get(path);
    for (const [object, resourceVersion] of seen) {
      if (changed?.get(object) === resourceVersion) changed.delete(object);
    }
    if (changed?.size === 0) this.#changed.delete(path);
    this.#noteRepair(path);
  }

  /** Called when it has no addons, or is deleted. */
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

/** Returns the key of an object, as in a change. */
const objectOf = (item: Item): InsideChange['object'] =>
  `${item.plural}.${groupOf(item)}/${item.namespace ?? ''}/${item.name}`;

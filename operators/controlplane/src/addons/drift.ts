/**
 * What others do to the objects of addons inside of control planes, as far as the host tells: then the addons are applied again. Nothing is
 * kept for a control plane in which nothing happens.
 *
 * Our own writes are told, too: they are known by the version that was answered. Somebody who changes such objects all the time is put
 * right every ten seconds, and costs others nothing more.
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
const againAfterMs = 10_000;
/** Of our own writes, waiting to be told: beyond this, one is taken for somebody else's, which costs a look. */
const ownMax = 4_096;

export interface Applied {
  readonly path: string;
  readonly item: Item;
  readonly resourceVersion: string;
}

export class Drift {
  readonly #changes: TenantHost['changes'];
  readonly #clock: Clock;
  /** By path: objects, and the version that was told last. */
  readonly #changed = new Map<string, Map<string, string>>();
  readonly #own = new Map<string, string>();
  /** When addons were applied again for the last time, oldest first; for as long as it matters. */
  readonly #appliedAtMs = new Map<string, number>();

  constructor({ changes }: Pick<TenantHost, 'changes'>, clock: Clock) {
    this.#changes = changes;
    this.#clock = clock;
  }

  /** Of the controller of ControlPlanes. */
  readonly source: RawSource = async ({ cluster, enqueue }, signal) => {
    if (!this.#changes) return aborted(signal);
    await this.#changes((change) => {
      const { path, object, resourceVersion } = change;
      const known = this.#changed.get(path);
      if (known) known.set(object, resourceVersion);
      else this.#changed.set(path, new Map([[object, resourceVersion]]));
      for (const { metadata } of cluster.cache.informer(ControlPlane).byIndex(byPath.name, path)) {
        enqueue({ name: metadata.name! }, { afterMs: this.#waitMs(path) });
      }
    }, signal);
  };

  /** Written by us. */
  applied({ path, item, resourceVersion }: Applied): void {
    if (!this.#changes) return;
    this.#own.set(`${path} ${objectOf(item)}`, resourceVersion);
    if (this.#own.size > ownMax) this.#own.delete(this.#own.keys().next().value!);
  }

  /** Did somebody else change something since the last call? Too soon after the last time, no: a look was asked for then. */
  take(path: string): boolean {
    const changed = this.#changed.get(path);
    if (!changed || this.#waitMs(path) > settleMs) return false;
    this.#changed.delete(path);
    let isDrifted = false;
    for (const [object, resourceVersion] of changed) {
      const key = `${path} ${object}`;
      if (this.#own.get(key) !== resourceVersion) isDrifted = true;
      else this.#own.delete(key);
    }
    if (isDrifted) this.#noteApplied(path);
    return isDrifted;
  }

  #waitMs(path: string): number {
    const atMs = this.#appliedAtMs.get(path);
    return atMs === undefined ? settleMs : Math.max(settleMs, atMs + againAfterMs - this.#clock.monotonicMs());
  }

  #noteApplied(path: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, atMs] of this.#appliedAtMs) {
      if (atMs + againAfterMs > nowMs) break;
      this.#appliedAtMs.delete(old);
    }
    this.#appliedAtMs.delete(path);
    this.#appliedAtMs.set(path, nowMs);
  }
}

/** As a change names it. */
const objectOf = (item: Item): InsideChange['object'] =>
  `${item.plural}.${groupOf(item)}/${item.namespace ?? ''}/${item.name}`;

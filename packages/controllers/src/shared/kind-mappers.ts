/**
 * Discovery of recently used control planes: a repeated lookup is cheap when nothing has changed (ETags), and unused entries are dropped.
 */

import { KindMapper } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { Clock } from '@hangar/core';

const mappersMax = 64;

export class KindMappers {
  readonly #clock: Clock;
  readonly #clientOf: (cluster: string) => Client;
  /** The most recently used entry is last. */
  readonly #mappers = new Map<string, KindMapper>();

  constructor({ clock, clientOf }: { readonly clock: Clock; readonly clientOf: (cluster: string) => Client }) {
    this.#clock = clock;
    this.#clientOf = clientOf;
  }

  of(cluster: string): KindMapper {
    const mapper = this.#mappers.get(cluster) ?? new KindMapper(this.#clientOf(cluster), { clock: this.#clock });
    this.#mappers.delete(cluster);
    this.#mappers.set(cluster, mapper);
    if (this.#mappers.size > mappersMax) this.#mappers.delete(this.#mappers.keys().next().value!);
    return mapper;
  }

  forget(cluster: string): void {
    this.#mappers.delete(cluster);
  }

  clear(): void {
    this.#mappers.clear();
  }

  get size(): number {
    return this.#mappers.size;
  }
}

/**
 * The known quotas, and the resources that each of them counts. Namespaces without a quota, which are most, are not included: a change in
 * one of them costs two look-ups.
 */

import { limitsOf } from '@hangar/api/quota';
import type { ResourceId } from '../contract.ts';
import { RecentRaises } from './recent-raises.ts';

export interface KnownQuota {
  readonly name: string;
  readonly namespace: string;
  /** Keys of `keyOfResource`. */
  counts: ReadonlySet<string>;
  /** Earliest time of the next count, in monotonic milliseconds. */
  notBeforeMs: number;
  readonly raises: RecentRaises;
}

/** Longer than an object takes from its charge to the store. */
export const settleMs = 2_000;

/** `widgets.example.com`, as the name of a definition. */
export const keyOfResource = ({ group, resource }: ResourceId): string => `${resource}.${group}`;

type Namespaces = Map<string, Map<string, KnownQuota>>;

export class KnownQuotas {
  readonly #clusters = new Map<string, Namespaces>();

  put(cluster: string, where: { namespace: string; name: string }, limits: Iterable<string>): KnownQuota {
    const { namespace, name } = where;
    let namespaces = this.#clusters.get(cluster);
    if (!namespaces) this.#clusters.set(cluster, (namespaces = new Map()));
    let quotas = namespaces.get(namespace);
    if (!quotas) namespaces.set(namespace, (quotas = new Map()));
    const counts = new Set(limitsOf(limits).map(keyOfResource));
    let known = quotas.get(name);
    if (known) known.counts = counts;
    else {
      known = { name, namespace, counts, notBeforeMs: 0, raises: new RecentRaises(settleMs) };
      quotas.set(name, known);
    }
    return known;
  }

  delete(cluster: string, { namespace, name }: { namespace: string; name: string }): void {
    const namespaces = this.#clusters.get(cluster);
    const quotas = namespaces?.get(namespace);
    if (!namespaces || !quotas?.delete(name) || quotas.size > 0) return;
    namespaces.delete(namespace);
    if (namespaces.size === 0) this.#clusters.delete(cluster);
  }

  find(cluster: string, namespace: string, name: string): KnownQuota | undefined {
    return this.#clusters.get(cluster)?.get(namespace)?.get(name);
  }

  inNamespace(cluster: string, namespace: string): Iterable<KnownQuota> {
    return this.#clusters.get(cluster)?.get(namespace)?.values() ?? [];
  }

  *inCluster(cluster: string): Generator<KnownQuota> {
    for (const quotas of this.#clusters.get(cluster)?.values() ?? []) yield* quotas.values();
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  clear(): void {
    this.#clusters.clear();
  }
}

/** Maps secrets to the clusters that use them, so that a change of a secret is a change of its clusters. Lookups take constant time. */

import type { ObjectKey } from '@hangar/client';
import type { ClusterName } from '../../cluster.ts';

const textOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

export class SecretLinks {
  readonly #secrets = new Map<ClusterName, string>();
  readonly #clusters = new Map<string, Set<ClusterName>>();

  /** Undefined: the cluster uses no secret. */
  set(cluster: ClusterName, secret: ObjectKey | undefined): void {
    const text = secret && textOf(secret);
    const before = this.#secrets.get(cluster);
    if (before === text) return;
    if (before !== undefined) this.#remove(cluster, before);
    if (text === undefined) return;
    this.#secrets.set(cluster, text);
    const clusters = this.#clusters.get(text);
    if (clusters) clusters.add(cluster);
    else this.#clusters.set(text, new Set([cluster]));
  }

  clustersOf(secret: ObjectKey): readonly ClusterName[] {
    return [...(this.#clusters.get(textOf(secret)) ?? [])];
  }

  #remove(cluster: ClusterName, secret: string): void {
    this.#secrets.delete(cluster);
    const clusters = this.#clusters.get(secret);
    clusters?.delete(cluster);
    if (clusters?.size === 0) this.#clusters.delete(secret);
  }
}

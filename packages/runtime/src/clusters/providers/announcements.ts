/**
 * What a provider has told, so that it tells what changed and nothing else. A cluster is the same as long as the object that stands
 * for it is: another one of its name is another cluster, of which nothing of the first may live on.
 */

import type { ClusterName } from '../../cluster.ts';
import type { DiscoveredCluster, Discovery } from '../contract.ts';

export interface Found {
  /** Of the object that stands for the cluster: its uid. */
  readonly identity: string;
  readonly cluster: DiscoveredCluster;
}

export class Announcements {
  readonly #discovery: Discovery;
  /** Identities by names. */
  readonly #told = new Map<ClusterName, string>();
  /** What is still being found out. */
  readonly #pending = new Map<ClusterName, Promise<void>>();

  constructor(discovery: Discovery) {
    this.#discovery = discovery;
  }

  /** As soon as it is known; unless something else is told of the cluster before. `finding` never rejects. */
  tellWhenFound(name: ClusterName, finding: Promise<Found>): void {
    const pending: Promise<void> = finding.then((found) => {
      if (this.#pending.get(name) === pending) this.tell(name, found);
    });
    this.#pending.set(name, pending);
  }

  /** Resolves when nothing is being found out. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending.values());
  }

  /** How it is now; undefined: it is none, or none any more. */
  tell(name: ClusterName, found: Found | undefined): void {
    this.#pending.delete(name);
    const before = this.#told.get(name);
    if (before !== undefined && before !== found?.identity) {
      this.#told.delete(name);
      this.#discovery.lost(name);
    }
    if (!found) return;
    this.#told.set(name, found.identity);
    this.#discovery.discovered(found.cluster);
  }

  /** All but these are lost. */
  retain(names: ReadonlySet<ClusterName>): void {
    for (const name of this.#told.keys()) if (!names.has(name)) this.tell(name, undefined);
  }
}

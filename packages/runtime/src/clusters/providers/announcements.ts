/**
 * The clusters that a provider has announced, so that it reports only changes. The identity of a cluster is that of the object that
 * represents it: an object that is recreated with the same name is another cluster, and state of the first one must not be reused.
 */

import type { ClusterName } from '../../cluster.ts';
import type { DiscoveredCluster, Discovery } from '../contract.ts';

export interface Found {
  /** uid of the object that represents the cluster. */
  readonly identity: string;
  readonly cluster: DiscoveredCluster;
}

export class Announcements {
  readonly #discovery: Discovery;
  /** Identities by names. */
  readonly #told = new Map<ClusterName, string>();
  /** Pending lookups. */
  readonly #pending = new Map<ClusterName, Promise<void>>();

  constructor(discovery: Discovery) {
    this.#discovery = discovery;
  }

  /** Announces the result of `finding`, unless a later announcement of the cluster comes first. `finding` never rejects. */
  tellWhenFound(name: ClusterName, finding: Promise<Found>): void {
    const pending: Promise<void> = finding.then((found) => {
      if (this.#pending.get(name) === pending) this.tell(name, found);
    });
    this.#pending.set(name, pending);
  }

  /** Resolves when no lookup is pending. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending.values());
  }

  /** Announces the current state; undefined: the cluster does not exist. */
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

  /** Reports all clusters except these as lost. */
  retain(names: ReadonlySet<ClusterName>): void {
    for (const name of this.#told.keys()) if (!names.has(name)) this.tell(name, undefined);
  }
}

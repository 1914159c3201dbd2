/** An API server reduced to leases: every write is atomic, every version is kept, watches deliver the versions in order. */

import { StatusError } from '@hangar/api';
import type { WatchEvent } from '@hangar/client';
import type { Lease, LeaseDraft } from '../leases.ts';

export interface Change {
  readonly version: number;
  readonly event: WatchEvent<Lease> & { readonly object: Lease };
}

export class ModelServer {
  readonly #leases = new Map<string, Lease>();
  readonly #changes: Change[] = [];
  readonly #followers = new Set<() => void>();
  #version = 1;

  get version(): number {
    return this.#version;
  }

  list(): { items: Lease[]; resourceVersion: string } {
    return { items: [...this.#leases.values()], resourceVersion: String(this.#version) };
  }

  get(name: string): Lease {
    const lease = this.#leases.get(name);
    if (!lease) throw new StatusError('NotFound', `no lease ${name}`);
    return lease;
  }

  write({ name, resourceVersion, annotations, spec }: LeaseDraft): Lease {
    const before = this.#leases.get(name);
    if (resourceVersion === undefined && before) throw new StatusError('AlreadyExists', `there is a lease ${name}`);
    if (resourceVersion !== undefined && !before) throw new StatusError('NotFound', `no lease ${name}`);
    if (before && before.metadata.resourceVersion !== resourceVersion) {
      throw new StatusError('Conflict', `${name} has changed`);
    }
    const metadata = { name, resourceVersion: String(++this.#version), annotations: { ...annotations } };
    const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    this.#leases.set(name, lease);
    this.#tell({ type: before ? 'MODIFIED' : 'ADDED', object: lease });
    return lease;
  }

  /** Without a version: unconditional. */
  remove(name: string, resourceVersion?: string): void {
    const lease = this.get(name);
    if (resourceVersion !== undefined && lease.metadata.resourceVersion !== resourceVersion) {
      throw new StatusError('Conflict', `${name} has changed`);
    }
    this.#version++;
    this.#leases.delete(name);
    this.#tell({ type: 'DELETED', object: lease });
  }

  /** Returns the changes after that version. */
  changesSince(version: number): readonly Change[] {
    const from = this.#changes.findIndex((change) => change.version > version);
    return from === -1 ? [] : this.#changes.slice(from);
  }

  /** Calls `onChange` after each change; returns a function that unsubscribes. */
  follow(onChange: () => void): () => void {
    this.#followers.add(onChange);
    return () => this.#followers.delete(onChange);
  }

  #tell(event: Change['event']): void {
    this.#changes.push({ version: this.#version, event });
    for (const follower of this.#followers) follower();
  }
}

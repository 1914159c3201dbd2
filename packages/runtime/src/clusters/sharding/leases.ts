/**
 * The leases of a group, and the five operations on them. All of them, including the ring, have one kind, one namespace and one label, so
 * that one list and one watch show them in the order of their changes: a view is always a consistent state of the past. The protocol
 * requires that.
 */

import { defineKind } from '@hangar/client';
import type { ApiObject, Client, WatchEvent } from '@hangar/client';

export interface Lease extends ApiObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export const leaseKind = defineKind<Lease>({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  isNamespaced: true,
});

export const groupLabel = 'hangar.dev/shard-group';
export const recordAnnotation = 'hangar.dev/shard-peer';
export const ringAnnotation = 'hangar.dev/shard-ring';

/** The name of a group has no dots: names of different groups, and of ring and peers, are distinct. */
export const ringLeaseName = (group: string): string => `hangar-shard.${group}.ring`;
export const peerLeasePrefix = (group: string): string => `hangar-shard.${group}.peer.`;

export interface LeaseDraft {
  readonly name: string;
  /** Absent: it must not exist yet. Otherwise it must be the newest version, or the write rejects with `Conflict`. */
  readonly resourceVersion?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: NonNullable<Lease['spec']>;
}

/** Rejects like clients: `Conflict`, `AlreadyExists`, `NotFound`, and network errors. */
export interface Leases {
  list(signal: AbortSignal): Promise<{ readonly items: readonly Lease[]; readonly resourceVersion: string }>;
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<Lease>>;
  get(name: string, signal: AbortSignal): Promise<Lease>;
  write(draft: LeaseDraft, signal: AbortSignal): Promise<Lease>;
  /** Deletes only that version. */
  remove(name: string, resourceVersion: string, signal: AbortSignal): Promise<void>;
}

export interface LeasesOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly group: string;
}

export function leasesOf({ client, namespace, group }: LeasesOptions): Leases {
  const selected = { namespace, labelSelector: { [groupLabel]: group } };
  return {
    list: (signal) => client.list(leaseKind, { ...selected, signal }),
    watch: (resourceVersion, signal) => client.watch(leaseKind, { ...selected, resourceVersion, signal }),
    get: (name, signal) => client.get(leaseKind, { namespace, name }, { signal }),
    write({ name, resourceVersion, annotations, spec }, signal) {
      const metadata = { name, namespace, labels: { [groupLabel]: group }, annotations: { ...annotations } };
      if (resourceVersion === undefined) return client.create(leaseKind, { metadata, spec }, { signal });
      return client.update(leaseKind, { metadata: { ...metadata, resourceVersion }, spec }, { signal });
    },
    async remove(name, resourceVersion, signal) {
      await client.delete(leaseKind, { namespace, name }, { preconditions: { resourceVersion }, signal });
    },
  };
}

/** Options of sharing clusters with other replicas. */

import { createHash } from 'node:crypto';
import { dnsLabelReasons, labelValueReasons } from '@hangar/api/formats';
import { UsageError } from '@hangar/core/command-line';
import { shardLabel } from '@hangar/runtime/clusters';
import { checkSelector } from './clusters.ts';
import type { ClusterOptions } from './clusters.ts';
import { timingsOf } from './timings.ts';
import type { TimingFlags, Timings } from './timings.ts';
import { checked, oneOf } from './values.ts';

export interface SharingOptions {
  /** False: this process is the only replica. */
  readonly electsLeader: boolean;
  /** Namespace of the Leases. */
  readonly namespace: string;
  readonly group: string;
  /** Name of this replica: also part of the names of its programs and folders. */
  readonly peer: string;
  /** A static shard; undefined: any cluster. */
  readonly shard: { readonly id: string; readonly selector: string } | undefined;
  readonly timings: Timings;
}

export interface SharingFlags extends TimingFlags {
  readonly 'leader-elect': boolean;
  readonly 'leader-elect-resource-namespace': string;
  readonly 'leader-elect-resource-name'?: string | undefined;
  readonly 'leader-elect-resource-lock': string;
  readonly 'cluster-shard-id'?: string | undefined;
  readonly 'cluster-shard-selector'?: string | undefined;
  readonly 'cluster-shard-group'?: string | undefined;
  readonly 'cluster-peer-name'?: string | undefined;
}

const defaultGroup = 'controller-manager';

export interface SharingWorld {
  readonly hostName: string;
  readonly stopGraceMs: number;
  readonly clusters: ClusterOptions;
}

/** Throws a UsageError. */
export function sharingOptions(
  values: SharingFlags,
  { hostName, stopGraceMs, clusters }: SharingWorld,
): SharingOptions {
  oneOf('leader-elect-resource-lock', values['leader-elect-resource-lock'], ['leases']);
  const namespace = values['leader-elect-resource-namespace'];
  return {
    electsLeader: values['leader-elect'],
    namespace: checked('leader-elect-resource-namespace', namespace, dnsLabelReasons),
    group: groupOf(values, clusters),
    peer: checked('cluster-peer-name', values['cluster-peer-name'] ?? hostName.toLowerCase(), peerReasons),
    shard: shardOf(values),
    timings: timingsOf(values, stopGraceMs),
  };
}

/** Replicas that select other clusters form another group: no replica may be assigned a cluster that it does not select. */
function groupOf(values: SharingFlags, { source, selector, namespaceScope }: ClusterOptions): string {
  for (const name of ['cluster-shard-group', 'leader-elect-resource-name'] as const) {
    const given = values[name];
    if (given !== undefined) return checked(name, given, dnsLabelReasons);
  }
  if (source === 'registration' && selector === undefined && namespaceScope === undefined) return defaultGroup;
  const hash = createHash('sha256')
    .update(JSON.stringify([source, selector, namespaceScope]))
    .digest('hex');
  return `${defaultGroup}-${hash.slice(0, 8)}`;
}

/** Part of the name of a Lease, of paths, and of socket names: shorter than other names. */
const peerReasons = (peer: string): string[] =>
  /^[a-z0-9]([-a-z0-9.]{0,150}[a-z0-9])?$/.test(peer)
    ? []
    : ['it must consist of lower case letters, digits, "-" and ".", and must start and end with a letter or digit'];

function shardOf(values: SharingFlags): SharingOptions['shard'] {
  const { 'cluster-shard-id': id, 'cluster-shard-selector': selector } = values;
  if (id === undefined) {
    if (selector === undefined) return undefined;
    throw new UsageError('--cluster-shard-selector requires --cluster-shard-id');
  }
  if (id === '') throw new UsageError('--cluster-shard-id must not be empty');
  checked('cluster-shard-id', id, labelValueReasons);
  checkSelector('cluster-shard-selector', selector);
  return { id, selector: selector || `${shardLabel}=${id}` };
}

/** The clusters as shown in JSON and in the table. */

import { services } from '../../contract.ts';
import type { ClusterRow, Service, ServiceState, SourceObject } from '../../contract.ts';
import { ofService } from '../../fleet/index.ts';
import { byName } from '../by-name.ts';

export interface DescribedService {
  /** The object that requests the service and has its condition. */
  readonly source: SourceObject;
  readonly engine: string | null;
  readonly phase: ServiceState['phase'];
  readonly reason: string;
  readonly message: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly lastError: string | null;
  readonly pid: number | null;
  readonly port: number | null;
  /** RFC 3339. */
  readonly startedAt: string | null;
}

export interface DescribedCluster {
  readonly name: string;
  readonly source: SourceObject;
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether this process owns it; the state of other clusters is shown by their owners. */
  readonly isOwned: boolean;
  /** Services that it is registered for. */
  readonly registeredFor: readonly Service[];
  readonly services: Readonly<Partial<Record<Service, DescribedService>>>;
}

export interface Summary {
  readonly total: number;
  readonly owned: number;
  /** Number of owned clusters with all registered services ready. */
  readonly ready: number;
  readonly notReady: number;
}

export interface DescribedClusters {
  readonly clusters: readonly DescribedCluster[];
  readonly summary: Summary;
}

/** Sorted by name. */
export function describeClusters(rows: Iterable<ClusterRow>): DescribedClusters {
  const sorted = byName(rows);
  const owned = sorted.filter(({ isOwned }) => isOwned);
  const ready = owned.filter(isReady).length;
  const summary = { total: sorted.length, owned: owned.length, ready, notReady: owned.length - ready };
  return { clusters: sorted.map(describeCluster), summary };
}

export function describeCluster(row: ClusterRow): DescribedCluster {
  const { cluster, isOwned } = row;
  return {
    name: cluster.name,
    source: described(cluster.source),
    ...(Object.keys(cluster.labels).length > 0 ? { labels: cluster.labels } : {}),
    isOwned,
    registeredFor: services.filter((service) => cluster.services.has(service)),
    services: Object.fromEntries(shownServices(row).map((service) => [service, describeService(row, service)])),
  };
}

/** Services that this process runs or should run for the cluster. */
export const shownServices = ({ cluster, isOwned, states }: ClusterRow): Service[] =>
  services.filter((service) => states.has(service) || (isOwned && cluster.services.has(service)));

/** State between the assignment and the first report. */
const notBegun: ServiceState = {
  phase: 'Waiting',
  reason: 'NotStarted',
  message: 'the service has not started yet',
  restarts: 0,
};

export const stateOf = ({ states }: ClusterRow, service: Service): ServiceState => states.get(service) ?? notBegun;

const isReady = (row: ClusterRow): boolean =>
  shownServices(row).every((service) => stateOf(row, service).phase === 'Ready');

function describeService(row: ClusterRow, service: Service): DescribedService {
  const { phase, reason, message, restarts, lastError, process } = stateOf(row, service);
  return {
    source: described(ofService(row.cluster, service).source),
    engine: row.engines.get(service) ?? null,
    phase,
    reason,
    message,
    ready: phase === 'Ready',
    restarts,
    lastError: lastError ?? null,
    pid: process?.pid ?? null,
    port: process?.port ?? null,
    startedAt: process?.startedAt.toISOString() ?? null,
  };
}

/** Leaves out all other fields: the location of Secrets is private. */
const described = ({ kind, name, uid }: SourceObject): SourceObject => ({ kind, name, uid });

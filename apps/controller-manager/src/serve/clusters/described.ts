/** The clusters as they are shown, whether as JSON or as a table. */

import { services } from '../../contract.ts';
import type { ClusterRow, Service, ServiceState, SourceObject } from '../../contract.ts';
import { ofService } from '../../fleet/index.ts';
import { byName } from '../by-name.ts';

export interface DescribedService {
  /** What asks for it, and carries its condition. */
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
  /** Whether this process has it; what another one does for it, that one tells. */
  readonly isOwned: boolean;
  /** What it is registered for. */
  readonly registeredFor: readonly Service[];
  readonly services: Readonly<Partial<Record<Service, DescribedService>>>;
}

export interface Summary {
  readonly total: number;
  readonly owned: number;
  /** Of those that are owned: everything that they are registered for is ready. */
  readonly ready: number;
  readonly notReady: number;
}

export interface DescribedClusters {
  readonly clusters: readonly DescribedCluster[];
  readonly summary: Summary;
}

/** In the order of names. */
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

/** What this process runs for the cluster, or should. */
export const shownServices = ({ cluster, isOwned, states }: ClusterRow): Service[] =>
  services.filter((service) => states.has(service) || (isOwned && cluster.services.has(service)));

/** Between the moment at which the cluster is ours and the first report. */
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

/** Nothing else that may be in it: where secrets are is nobody's concern. */
const described = ({ kind, name, uid }: SourceObject): SourceObject => ({ kind, name, uid });

/**
 * The aggregated API servers that `--services` can name: one row for each. The flags read the names, so modules are loaded on demand.
 */

import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';

/** A module of this folder, named as its service. */
export interface AggregatedServiceModule {
  service(world: ServiceWorld): Pick<SupervisedService, 'run'>;
}

export interface AggregatedServiceRow {
  load(): Promise<AggregatedServiceModule>;
  /** The service gets the audit events of all control planes: `inside.auditFeed`. */
  readonly needsAudit: boolean;
}

export const aggregatedServices = {
  activity: { load: () => import('./activity.ts'), needsAudit: true },
  search: { load: () => import('./search.ts'), needsAudit: false },
} as const satisfies Readonly<Record<string, AggregatedServiceRow>>;

export type AggregatedServiceName = keyof typeof aggregatedServices;

/** The control planes that promotion considers, from the caches: by class, with their tenants and measurements. */

import type { Cluster } from '@hangar/runtime';
import { clusterPathOf, ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { isClaimedBy } from '../control-plane/claim.ts';
import { byClass } from '../control-plane/indexes.ts';
import { Tenant } from '../host/index.ts';
import { isMeasurable } from './candidate.ts';
import { policyOf } from './policy.ts';
import type { Metric, PromotionPolicy } from './policy.ts';
import type { MeasuredTenant } from './tenant-measurements.ts';

export interface PromotionClass {
  readonly name: string;
  readonly policy: PromotionPolicy;
  readonly planes: readonly FleetPlane[];
}

export interface FleetPlane {
  readonly plane: ControlPlane;
  readonly isMeasurable: boolean;
  /** The tenant of a virtual control plane that can be measured. */
  readonly tenant?: MeasuredTenant | undefined;
}

/** Returns the classes with promotion. */
export function promotionClasses(management: Cluster, tenants: Cluster): PromotionClass[] {
  const found: PromotionClass[] = [];
  for (const { metadata, spec } of management.cache.informer(ControlPlaneClass).all()) {
    if (!spec?.promotion || metadata.deletionTimestamp !== undefined) continue;
    const name = metadata.name!;
    const planes = [...management.cache.informer(ControlPlane).byIndex(byClass.name, name)];
    const policy = policyOf(spec.promotion);
    found.push({ name, policy, planes: planes.map((plane) => fleetPlane(plane, tenants)) });
  }
  return found;
}

function fleetPlane(plane: ControlPlane, tenants: Cluster): FleetPlane {
  const path = clusterPathOf(plane);
  const tenant = tenants.cache.informer(Tenant).get({ name: path });
  const own = tenant && isClaimedBy(tenant, plane) ? tenant : undefined;
  if (plane.spec?.mode === 'Dedicated') return { plane, isMeasurable: isMeasurable(plane, undefined) };
  const measurable = own !== undefined && isMeasurable(plane, own);
  return { plane, isMeasurable: measurable, ...(measurable ? { tenant: { path, uid: own.metadata.uid! } } : {}) };
}

/** Reports whether a class limits objects or bytes of virtual control planes, which have to be counted. */
export const needsCounts = (classes: readonly PromotionClass[]): boolean =>
  classes.some(({ policy }) =>
    (['objects', 'storedBytes'] satisfies Metric[]).some((metric) => policy.toDedicated.limits[metric] !== undefined),
  );

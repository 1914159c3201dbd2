/** A tenant's limits on what it stores, and what exceeds them. */

import type { TenantQuota } from '../tenant.ts';
import { kindName } from '../usage/counted.ts';
import type { Amounts } from '../usage/counted.ts';

/** One number that a quota limits: `objects`, `storedBytes`, `configmaps`. */
export interface Excess {
  readonly name: string;
  /** Where the limit is in the Tenant. */
  readonly field: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

/** Whether anything that is stored is limited. */
export const limitsStorage = (quota: TenantQuota | undefined): quota is TenantQuota =>
  quota !== undefined &&
  (quota.objects !== undefined ||
    quota.storedBytes !== undefined ||
    Object.keys(quota.objectsPerKind ?? {}).length > 0);

/** Empty: it fits. What does not grow fits whatever is used. */
export function excesses(quota: TenantQuota, used: Amounts, growth: Amounts): Excess[] {
  const found: Excess[] = [];
  const check = (name: string, field: string, limit: number | undefined, requested: number, now: number): void => {
    if (limit !== undefined && requested > 0 && now + requested > limit) {
      found.push({ name, field, requested, used: now, limit });
    }
  };
  check('objects', 'spec.quota.objects', quota.objects, growth.objects, used.objects);
  check('storedBytes', 'spec.quota.storedBytes', quota.storedBytes, growth.storedBytes, used.storedBytes);
  for (const [given, limit] of Object.entries(quota.objectsPerKind ?? {})) {
    const kind = kindName(given);
    const [requested, now] = [growth, used].map(({ objectsPerKind }) => objectsPerKind.get(kind) ?? 0);
    check(given, `spec.quota.objectsPerKind[${given}]`, limit, requested!, now!);
  }
  return found;
}

/** Compares the storage limits of a tenant with its usage. */

import type { TenantQuota } from '../tenant.ts';
import { kindName } from '../usage/counted.ts';
import type { Amounts } from '../usage/counted.ts';

/** One limit that is exceeded: `objects`, `storedBytes`, `configmaps`. */
export interface Excess {
  readonly name: string;
  /** Field of the limit in the Tenant. */
  readonly field: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

/** Reports whether the quota limits storage. */
export const limitsStorage = (quota: TenantQuota | undefined): quota is TenantQuota =>
  quota !== undefined &&
  (quota.objects !== undefined ||
    quota.storedBytes !== undefined ||
    Object.keys(quota.objectsPerKind ?? {}).length > 0);

/** Returns an empty list if the growth fits. Amounts that do not grow always fit. */
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

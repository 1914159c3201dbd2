/** Errors for tenants that exceed their quota. */

import { groupResourceText, quote, StatusError } from '@hangar/api';
import type { GroupResource } from '../../resources/key-resource.ts';
import type { Excess } from './limits.ts';

export interface RefusedObject {
  readonly resource: GroupResource;
  readonly name: string;
}

/** 403, with the message of kube-apiserver's quotas: retrying does not help before objects are deleted. */
export function quotaExceeded(path: string, excess: readonly Excess[], object: RefusedObject | undefined): StatusError {
  const show = (numberOf: (one: Excess) => number): string =>
    excess.map((one) => `${one.name}=${numberOf(one)}`).join(',');
  const numbers = `requested: ${show((one) => one.requested)}, used: ${show((one) => one.used)}, limited: ${show((one) => one.limit)}`;
  const text = `exceeded quota: tenant ${quote(path)}: ${numbers}`;
  const causes = excess.map(({ name, field, requested, used, limit }) => ({
    reason: 'QuotaExceeded',
    message: `${name}: ${used} of ${limit} are used, and ${requested} more are requested`,
    field,
  }));
  if (!object) return new StatusError('Forbidden', text, { details: { causes } });
  const { resource, name } = object;
  return new StatusError('Forbidden', `${groupResourceText(resource)} ${quote(name)} is forbidden: ${text}`, {
    details: { name, ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.resource, causes },
  });
}

const watchRetrySeconds = 10;

/** 429: Kubernetes clients wait and retry, and another watch may have closed by then. */
export const tooManyWatches = (path: string, used: number, limit: number): StatusError =>
  new StatusError('TooManyRequests', `the tenant ${quote(path)} has ${used} of ${limit} watches`, {
    details: {
      retryAfterSeconds: watchRetrySeconds,
      causes: [
        { reason: 'QuotaExceeded', message: `watches: ${used} of ${limit} are used`, field: 'spec.quota.watches' },
      ],
    },
  });

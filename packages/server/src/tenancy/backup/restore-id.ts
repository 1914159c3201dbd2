/** The ID of a restore, by which a repeated request is recognized. */

import { badRequest } from '@hangar/api';
import type { Call } from '../../verbs/call.ts';

/** On a Tenant: the ID of the restore that created it. */
export const restoreIdAnnotation = 'tenancy.hangar.dev/restore-id';

const restoreIdPattern = /^[-A-Za-z0-9._]{1,64}$/;

/** Returns the parameter `restoreId`. Throws 400. */
export function givenRestoreId(query: Call['query']): string | undefined {
  if (!query.has('restoreId')) return undefined;
  const id = query.text('restoreId');
  if (restoreIdPattern.test(id)) return id;
  throw badRequest('the parameter restoreId must have 1 to 64 letters, digits, hyphens, dots or underscores');
}

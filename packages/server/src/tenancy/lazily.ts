/** Modules that a server loads when it gets its first tenant. */

import { StatusError } from '@hangar/api';

export { Replacements } from './backup/replacements.ts';
export { openTenantBase } from './base/base.ts';
export { TenantFeed } from './feed/index.ts';
export { openTenant } from './open-tenant.ts';
export { birth } from './kind/birth.ts';
export { operations } from './kind/operations.ts';
export { proofOf } from './proof.ts';
export { auditedRefusal } from './refusal.ts';
export { misplacedCredential } from './misplaced.ts';
export { servedRetained } from './retained/kind.ts';
export { servedTenants } from './kind/resource.ts';
export { lastUsage } from './usage/last-usage.ts';
export { Wildcard, WildcardServer } from './wildcard/index.ts';

export const unavailable = (path: string): StatusError =>
  new StatusError('ServiceUnavailable', `control plane "${path}" cannot be opened, please try again`, {
    details: { retryAfterSeconds: 1 },
  });

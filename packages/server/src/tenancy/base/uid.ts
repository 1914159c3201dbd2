/** UIDs of base objects, derived from the seed of a tenant, so that no two tenants share one and none has to be stored. */

import { hash } from 'node:crypto';

/** Has the form of a random UID (RFC 4122, version 4), and cannot be distinguished from one. */
export function baseUid(seed: string, key: string): string {
  const hex = hash('sha256', `${seed}/${key}`);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The uids of base objects: of a tenant's seed, so that no two tenants share one, and never drawn or stored. */

import { hash } from 'node:crypto';

/** In the form of a random uid (RFC 4122, version 4): nobody can tell that it was not drawn. */
export function baseUid(seed: string, key: string): string {
  const hex = hash('sha256', `${seed}/${key}`);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

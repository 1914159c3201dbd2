/** Decides for which requests without credentials the user is `system:anonymous`, which is then authorized like other users. */

import type { ServerRequest } from '../http/message.ts';
import { isPublicPath } from '../request/public-paths.ts';

export type AnonymousAccess = (path: string, request: ServerRequest) => boolean;

/** Every client that can reach the port may read the health and version of the server. */
export const anonymousHealth: AnonymousAccess = isPublicPath;

export interface AnonymousOptions {
  readonly enabled: boolean;
  /** Exact paths. Absent or empty: all paths. */
  readonly conditions?: readonly { readonly path: string }[];
}

/** Implements `anonymous` of an AuthenticationConfiguration. */
export function anonymousAccess({ enabled, conditions = [] }: AnonymousOptions): AnonymousAccess {
  if (!enabled) return () => false;
  if (conditions.length === 0) return () => true;
  const paths = new Set(conditions.map(({ path }) => path));
  return (path) => paths.has(path);
}

/** Where a request without any credentials is let in as `system:anonymous`, to be judged as everybody else. */

import type { ServerRequest } from '../http/message.ts';
import { isPublicPath } from '../request/public-paths.ts';

export type AnonymousAccess = (path: string, request: ServerRequest) => boolean;

/** Whoever may reach the port may ask whether the server is well, and which one it is. */
export const anonymousHealth: AnonymousAccess = isPublicPath;

export interface AnonymousOptions {
  readonly enabled: boolean;
  /** Each an exact path. Absent or empty: everywhere. */
  readonly conditions?: readonly { readonly path: string }[];
}

/** As `anonymous` of an AuthenticationConfiguration says. */
export function anonymousAccess({ enabled, conditions = [] }: AnonymousOptions): AnonymousAccess {
  if (!enabled) return () => false;
  if (conditions.length === 0) return () => true;
  const paths = new Set(conditions.map(({ path }) => path));
  return (path) => paths.has(path);
}

/** Headers of a request: a name may have several values, each on a separate line. */

import type { Impersonation } from '../config/cluster-config.ts';
import { ClientError } from '../errors.ts';

export type Headers = readonly (readonly [name: string, value: string])[];

/** Returns the impersonation headers. Each value of an extra is a header; its key may have characters that header names may not. */
export function impersonationHeaders(impersonation: Impersonation | undefined): Headers {
  if (!impersonation) return [];
  const { user, groups = [], uid, extra = {} } = impersonation;
  if (user === '') throw new ClientError('InvalidKubeconfig', 'impersonation of groups, uid or extra requires a user');
  return [
    ['impersonate-user', user],
    ...groups.map((group) => ['impersonate-group', group] as const),
    ...(uid ? [['impersonate-uid', uid] as const] : []),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => [`impersonate-extra-${encodedKey(key)}`, value] as const),
    ),
  ];
}

/** Percent-encodes characters that header names may not have; the server decodes them. */
const encodedKey = (key: string): string =>
  Buffer.from(key.toLowerCase())
    .toString('latin1')
    .replaceAll(
      /[^a-z0-9!#$&'*+\-.^_`|~]/g,
      (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .toLowerCase();

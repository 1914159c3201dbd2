/** A client for a path below the server of another client. It shares connections and credentials, and has nothing to close. */

import { ClientError, isPlainPath, isPlainTarget, RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import { RuntimeError } from '../../errors.ts';

/**
 * `path` begins with a slash and does not end with one; throws `InvalidOptions` for an ambiguous path. Requests stay below it: a proxy that
 * resolves `..` could otherwise lead from one cluster to another, with credentials for both. Credentials and retries are those of the other
 * client.
 */
export function pathClient(client: Pick<Client, 'raw'>, path: string): Client {
  if (!isPlainPath(path) || path.includes('//') || path.endsWith('/')) {
    throw new RuntimeError('InvalidOptions', `${JSON.stringify(path)} is not a valid cluster path`);
  }
  return new RestClient(
    {
      async request({ headers = {}, target, ...request }) {
        if (!isPlainTarget(target)) {
          throw new ClientError('InvalidKey', `${JSON.stringify(target)} is not a normalized path`);
        }
        const { 'user-agent': _, ...others } = headers;
        return client.raw({ ...request, headers: others, target: `${path}${target}` });
      },
      close: () => Promise.resolve(),
    },
    { retry: false },
  );
}

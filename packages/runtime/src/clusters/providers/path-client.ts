/** A client for what is below a path of another one's server: the same connections, the same credentials, nothing to close. */

import { ClientError, isPlainPath, isPlainTarget, RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import { RuntimeError } from '../../errors.ts';

/**
 * `path` begins with a slash and does not end with one; throws `InvalidOptions` for one that is not what it seems. What is asked for
 * stays below it: a proxy that follows `..` would otherwise lead from one cluster to another, with credentials for both. Who asks,
 * and how often again, is the other client's affair.
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

/** Estimates for how long deleted pods of a namespace may remain: until the longest grace period is over. */

import { Pod } from '@hangar/client/kinds/core-v1';
import type { Deleting } from './delete-contents.ts';

const pageSize = 500;

export async function gracefulSeconds({ client, namespace, sinceSeconds, signal }: Deleting): Promise<number> {
  let longest = 0;
  for await (const { spec, status } of client.listAll(Pod, { namespace, limit: pageSize, signal })) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
    longest = Math.max(longest, spec?.terminationGracePeriodSeconds ?? 0);
  }
  return longest > sinceSeconds ? longest : 0;
}

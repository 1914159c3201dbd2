/** Removes the annotation with the request of a recovery. */

import { annotations, HostedControlPlane } from '../../api/index.ts';
import type { ActionContext } from './index.ts';

export async function clearRequest({ target, client, signal }: ActionContext): Promise<boolean> {
  const key = { namespace: target.namespace, name: target.hostedControlPlane };
  const body = { metadata: { annotations: { [annotations.recoverEtcd]: null } } };
  await client.patch(HostedControlPlane, key, { type: 'merge', body }, { signal });
  return true;
}

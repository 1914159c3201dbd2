/** Removes the name of a deleted secret from the list of its account. */

import { find } from '@hangar/client';
import { Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { ControllerContext } from '../contract.ts';

export interface Reference {
  readonly account: string;
  readonly secret: string;
}

/** Rejects with `Conflict` when the account was changed concurrently: the request is retried. */
export async function removeReference(
  namespace: string,
  { account: name, secret }: Reference,
  { client, signal }: Pick<ControllerContext, 'client' | 'signal'>,
): Promise<void> {
  const account = await find(client, ServiceAccount, { namespace, name }, { signal });
  const secrets = account?.secrets ?? [];
  if (!account || !secrets.some((one) => one.name === secret)) return;
  // It may have been recreated under the same name.
  if (await find(client, Secret, { namespace, name: secret }, { signal })) return;
  const left = secrets.filter((one) => one.name !== secret);
  await client.update(ServiceAccount, { ...account, secrets: left }, { signal });
}

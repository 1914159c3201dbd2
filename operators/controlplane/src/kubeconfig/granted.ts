/**
 * A server applies roles and bindings a moment after they were acknowledged, as kube-apiserver does; until then it refuses. A control plane
 * is ready when its administrator is authorized.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { SubjectAccessReview } from '@hangar/client/kinds/authorization-v1';
import type { ResourceAttributes } from '@hangar/client/kinds/authorization-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { adminName, systemNamespace } from './auth.ts';
import type { Auth } from './auth.ts';

const firstPauseMs = 5;
const looksMax = 8;

export interface GrantedOptions {
  readonly tenantClient: Client;
  readonly auth: Auth;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves when the binding is effective, or after about a second: a role may not exist, or allow nothing that can be reviewed. */
export async function untilGranted({ tenantClient, auth, clock, signal }: GrantedOptions): Promise<void> {
  const resourceAttributes = await somethingAllowed(tenantClient, auth.role, signal);
  if (!resourceAttributes) return;
  const account = `system:serviceaccount:${systemNamespace}:${adminName}`;
  const spec = { user: auth.model === 'token' ? account : adminName, resourceAttributes };
  for (let look = 0; look < looksMax; look++) {
    const { status } = await tenantClient.create(SubjectAccessReview, { metadata: {}, spec }, { signal });
    if (status?.allowed) return;
    await sleep(clock, firstPauseMs * 2 ** look, signal);
  }
}

async function somethingAllowed(
  client: Client,
  role: string,
  signal: AbortSignal,
): Promise<ResourceAttributes | undefined> {
  if (role === 'cluster-admin') return { group: '*', resource: '*', verb: '*' };
  const found = await find(client, ClusterRole, { name: role }, { signal });
  const rule = found?.rules?.find(({ resources, resourceNames }) => resources?.length && !resourceNames?.length);
  if (!rule) return undefined;
  const [resource = '', subresource] = rule.resources![0]!.split('/');
  return {
    group: rule.apiGroups?.[0] ?? '',
    resource,
    verb: rule.verbs[0] ?? '',
    ...(subresource === undefined ? {} : { subresource }),
  };
}

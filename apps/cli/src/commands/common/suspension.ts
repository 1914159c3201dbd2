/** Sets which requests a control plane still serves, in the spec of its Tenant. */

import type { Client } from '@hangar/client';
import { findControlPlane, tenantOf } from '../../control-planes/find.ts';
import { Tenant } from '../../kinds.ts';
import type { Session } from '../../session.ts';

export interface Suspended {
  readonly session: Session;
  readonly client: Client;
  /** Of the control plane. */
  readonly name: string;
}

/** Resolves with its name. */
export async function setSuspension(
  { session: { signal }, client, name }: Suspended,
  suspension: 'ReadOnly' | 'Offline' | undefined,
): Promise<string> {
  const plane = await findControlPlane(client, name, signal);
  const { metadata, status } = await tenantOf(client, plane, signal);
  // The uid is a precondition: a tenant that replaced this one is not changed.
  const body = { metadata: { uid: metadata.uid }, spec: { suspension: suspension ?? null } };
  await client.patch(Tenant, { name: metadata.name! }, { type: 'merge', body }, { signal });
  if (suspension === undefined && status?.quarantine) {
    const ended = { metadata: { uid: metadata.uid }, status: { quarantine: null } };
    await client.status.patch(Tenant, { name: metadata.name! }, { type: 'merge', body: ended }, { signal });
  }
  return name;
}

/**
 * The credential of the administrator: a client certificate of the tenant's own CA, or a token of a ServiceAccount. Never with a privileged
 * group: its permissions come from its binding, and are revoked with it.
 */

import { ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { KubeconfigOptions } from '@hangar/pki';
import type { Pass } from '../control-plane/world.ts';
import { adminName, systemNamespace } from './auth.ts';
import type { AuthModel } from './auth.ts';

export interface Issued {
  readonly credentials: KubeconfigOptions['credentials'];
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

const certificateSeconds = 30 * 86_400;
const tokenSeconds = 86_400;

export function issue(pass: Pass, model: AuthModel): Promise<Issued> {
  return model === 'certificate' ? issueCertificate(pass) : issueToken(pass);
}

async function issueCertificate({ world, plane, signal }: Pass): Promise<Issued> {
  const issuedAtMs = world.clock.now();
  const wanted = { user: adminName, groups: [], expirationSeconds: certificateSeconds };
  const credentials = await world.writes.make('certificate', () => plane!.issueCertificate(wanted, { signal }));
  return { credentials, issuedAtMs, expiresAtMs: issuedAtMs + certificateSeconds * 1000 };
}

interface TokenRequest {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

async function issueToken({ world, entrance, signal }: Pass): Promise<Issued> {
  const issuedAtMs = world.clock.now();
  const tenantClient = await entrance.client();
  const key = { namespace: systemNamespace, name: adminName };
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: tokenSeconds },
  };
  const { status } = await world.writes.make('token', () =>
    tenantClient.subresource('token').create<TokenRequest, ServiceAccount>(ServiceAccount, key, body, { signal }),
  );
  return { credentials: { token: status.token }, issuedAtMs, expiresAtMs: Date.parse(status.expirationTimestamp) };
}

/**
 * `POST …/tenants/demo/keys`: returns the tenant's CAs and service account key, to hand the tenant over to a dedicated API server. The keys
 * allow to impersonate every user of this tenant, so they require a separate permission: `create` on `tenants/keys`.
 */

import { createPublicKey } from 'node:crypto';
import type { KubeObject } from '@hangar/api';
import type { Answer } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import type { Call } from '../../verbs/call.ts';
import { timestamp } from '../../verbs/metadata.ts';
import { tenantKeys } from '../keys/keys.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { askedTenant } from './asked-tenant.ts';

const bodyBytesMax = 64 * 1024;

export const keysOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    await call.request.body(bodyBytesMax);
    const { store, clock, random } = world;
    const { path, prefix, identity } = await askedTenant(world, call);
    const keys = await tenantKeys({ store, prefix, path, identityRevision: identity.modRevision, clock, random });
    const { authority, frontProxyAuthority, serviceAccountKey } = keys;
    const publicKey = createPublicKey(serviceAccountKey).export({ type: 'spki', format: 'pem' });
    const answer = {
      kind: 'TenantKeys',
      apiVersion: call.resource.apiVersion,
      metadata: { name: path, creationTimestamp: timestamp(clock) },
      status: {
        authority: { certificate: authority.certificate, key: authority.key },
        frontProxyAuthority: { certificate: frontProxyAuthority.certificate, key: frontProxyAuthority.key },
        serviceAccountKey,
        serviceAccountPublicKey: publicKey,
        serviceAccountIssuer: world.url(path),
        servingCa: world.servingCa(),
      },
    } as unknown as KubeObject;
    return objectAnswer(call, want, answer, 201);
  };

/** Phase Certificates: the certificates of the components, issued by the built-in issuer or by cert-manager, and renewed before they expire. */

import { keyOf } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { isControlledBy } from '@hangar/runtime';
import { annotations, clusterNameLabel } from '../../api/index.ts';
import { isCurrent, issued, renewsAtMs, requestDigest } from '../../pki/certificates.ts';
import { textIn } from '../../pki/secrets.ts';
import type { CertificateWish } from '../../render/index.ts';
import { conflictFault, findObject } from '../apply.ts';
import { noteExpiration } from '../figures.ts';
import type { Pass, Verdict } from '../pass.ts';
import { certManagerCertificates } from './cert-manager.ts';

export async function certificates(pass: Pass): Promise<Verdict | undefined> {
  const { certManager } = pass.world;
  const { issuer = certManager === 'default' ? 'CertManager' : 'BuiltIn' } = pass.plane.spec.certificates ?? {};
  if (issuer === 'BuiltIn') return builtInCertificates(pass);
  if (certManager) return certManagerCertificates(pass);
  const message = 'spec.certificates.issuer is CertManager, but the management cluster has no API cert-manager.io/v1';
  return { reason: 'CertManagerMissing', message };
}

async function builtInCertificates(pass: Pass): Promise<Verdict | undefined> {
  for (const wish of pass.rendering.certificates(pass.plane)) {
    const fault = await certificate(pass, wish);
    if (fault) return fault;
  }
  return undefined;
}

async function certificate(pass: Pass, wish: CertificateWish): Promise<Verdict | undefined> {
  const { plane, world, authorities, hostedControlPlane } = pass;
  const authority = authorities![wish.authority];
  const digest = requestDigest(wish, authority);
  const existing = await findObject(pass, Secret, { namespace: plane.namespace, name: wish.secret });
  if (existing && !isControlledBy(existing, hostedControlPlane)) return conflictFault(existing);
  const isUsable = existing && isCurrent(existing, { digest, authority, nowMs: world.clock.now() });
  const secret = isUsable
    ? existing
    : await putSecret(pass, existing, {
        name: wish.secret,
        type: 'kubernetes.io/tls',
        digest,
        data: await issued(wish, authority, world),
      });
  pass.wakeUps.push(renewsAtMs(textIn(secret, 'tls.crt')));
  noteExpiration(pass, 'components', textIn(secret, 'tls.crt'));
  return undefined;
}

export interface SecretWish {
  readonly name: string;
  readonly type: string;
  /** Of the request that the data was made for. */
  readonly digest: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Creates or changes a Secret of the operator. Rejects with `AlreadyExists` or `Conflict` when `before` is outdated. */
export async function putSecret(pass: Pass, before: Secret | undefined, wish: SecretWish): Promise<Secret> {
  const { plane, client, world, signal } = pass;
  const { name, type, digest, data } = wish;
  const metadata = {
    labels: { [clusterNameLabel]: plane.name },
    annotations: { [annotations.request]: digest },
    ownerReferences: [plane.owner],
  };
  const write = `secret-${name.slice(plane.name.length + 1)}`;
  const draft = { metadata: { namespace: plane.namespace, name, ...metadata }, type, data };
  if (!before) return world.writes.make(write, () => client.create(Secret, draft, { signal }));
  const { uid, resourceVersion } = before.metadata;
  if (before.type !== type || before.immutable) {
    // The type of a Secret cannot change. The next lines recreate it; after an interruption, the next pass does.
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    await world.writes.make(`${write}-delete`, () => client.delete(Secret, keyOf(before), { preconditions, signal }));
    return world.writes.make(write, () => client.create(Secret, draft, { signal }));
  }
  const body = { metadata: { uid, resourceVersion, ...metadata }, data };
  return world.writes.make(write, () => client.patch(Secret, keyOf(before), { type: 'merge', body }, { signal }));
}

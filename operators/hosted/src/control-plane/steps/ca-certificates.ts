/** Phase CACertificates: the authorities and the key of service accounts. Existing ones are used, and never changed. */

import { parseDuration } from '@hangar/api/values';
import { Secret } from '@hangar/client/kinds/core-v1';
import { pooled } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { clusterNameLabel, clusterSecretType } from '../../api/index.ts';
import { isFault } from '../../fault.ts';
import type { Fault } from '../../fault.ts';
import { authorityIn } from '../../pki/authorities.ts';
import { base64, digestOf } from '../../pki/secrets.ts';
import { newServiceAccountKey, serviceAccountFault } from '../../pki/service-account-key.ts';
import { authorityNames } from '../../render/index.ts';
import { findObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';

const defaultDuration = '87600h';
const dayNs = 86_400_000_000_000;

export async function caCertificates(pass: Pass): Promise<Verdict | undefined> {
  const { plane } = pass;
  const { rootCaCertificateDuration, caCertificateDuration } = plane.spec.certificates ?? {};
  const names = authorityNames(plane);
  const ca = await authority(pass, { name: names.ca, commonName: 'kubernetes', duration: rootCaCertificateDuration });
  if (isFault(ca)) return ca;
  const etcd = await authority(pass, { name: names.etcd, commonName: 'etcd-ca', duration: caCertificateDuration });
  if (isFault(etcd)) return etcd;
  const proxy = await authority(pass, {
    name: names.proxy,
    commonName: 'front-proxy-ca',
    duration: caCertificateDuration,
  });
  if (isFault(proxy)) return proxy;
  pass.authorities = { ca, etcd, proxy };
  const key = await secretOf(pass, names.serviceAccount, newServiceAccountKey);
  const fault = serviceAccountFault(key);
  if (fault) return fault;
  pass.serviceAccountDigest = digestOf(key.data);
  return undefined;
}

interface AuthorityWish {
  readonly name: string;
  readonly commonName: string;
  readonly duration: string | undefined;
}

async function authority(
  pass: Pass,
  { name, commonName, duration = defaultDuration }: AuthorityWish,
): Promise<KeyPair | Fault> {
  const { world } = pass;
  const days = Number(parseDuration(duration)) / dayNs;
  const secret = await secretOf(pass, name, async () => {
    const { certificate, key } = await pooled.createAuthority(commonName, days, world);
    return { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
  });
  return authorityIn(secret, world.clock.now());
}

/** Returns the Secret, created if it does not exist. Rejects with `AlreadyExists` if it was created meanwhile. */
async function secretOf(pass: Pass, name: string, data: () => Promise<Record<string, string>>): Promise<Secret> {
  const { plane, client, world, signal } = pass;
  const { namespace } = plane;
  const existing = await findObject(pass, Secret, { namespace, name });
  if (existing) return existing;
  const metadata = { namespace, name, labels: { [clusterNameLabel]: plane.name }, ownerReferences: [plane.owner] };
  const draft = { metadata, type: clusterSecretType, data: await data() };
  return world.writes.make(`secret-${name.slice(plane.name.length + 1)}`, () =>
    client.create(Secret, draft, { signal }),
  );
}

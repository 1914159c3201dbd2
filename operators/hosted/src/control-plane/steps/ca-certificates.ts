/**
 * Phase CACertificates: the authorities and the key of service accounts. Existing ones are used, and never changed. The bundle of the next
 * phase records which authorities the control plane has: one that disappears or changes afterwards is a fault, because nodes, tokens and
 * kubeconfigs depend on it.
 */

import { parseDuration } from '@hangar/api/values';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { pooled } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { clusterNameLabel, clusterSecretType } from '../../api/index.ts';
import { isFault } from '../../fault.ts';
import type { Fault } from '../../fault.ts';
import { authorityIn } from '../../pki/authorities.ts';
import { base64, digestOf, quoted } from '../../pki/secrets.ts';
import { newServiceAccountKey, serviceAccountFault } from '../../pki/service-account-key.ts';
import { authorityNames, bundleName } from '../../render/index.ts';
import { findObject } from '../apply.ts';
import type { Authorities, Pass, Verdict } from '../pass.ts';
import { bundleKeys } from './ca-bundle.ts';

const defaultDuration = '87600h';
const dayNs = 86_400_000_000_000;

export async function caCertificates(pass: Pass): Promise<Verdict | undefined> {
  const { plane } = pass;
  const { rootCaCertificateDuration, caCertificateDuration } = plane.spec.certificates ?? {};
  const names = authorityNames(plane);
  const bundle = await findObject(pass, ConfigMap, { namespace: plane.namespace, name: bundleName(plane) });
  const wishes: readonly AuthorityWish[] = [
    { of: 'ca', name: names.ca, commonName: 'kubernetes', duration: rootCaCertificateDuration },
    { of: 'etcd', name: names.etcd, commonName: 'etcd-ca', duration: caCertificateDuration },
    { of: 'proxy', name: names.proxy, commonName: 'front-proxy-ca', duration: caCertificateDuration },
  ];
  const authorities: Partial<Record<keyof Authorities, KeyPair>> = {};
  for (const wish of wishes) {
    const found = await authority(pass, wish, bundle?.data?.[bundleKeys[wish.of]]);
    if (isFault(found)) return found;
    authorities[wish.of] = found;
  }
  const key = await secretOf(pass, names.serviceAccount, bundle === undefined, newServiceAccountKey);
  const fault = isFault(key) ? key : serviceAccountFault(key);
  if (fault) return fault;
  pass.authorities = authorities as Authorities;
  pass.serviceAccountDigest = digestOf((key as Secret).data);
  return undefined;
}

interface AuthorityWish {
  readonly of: keyof Authorities;
  readonly name: string;
  readonly commonName: string;
  readonly duration: string | undefined;
}

/** `known`: the certificate in the bundle. Absent: the control plane is new. */
async function authority(
  pass: Pass,
  { name, commonName, duration = defaultDuration }: AuthorityWish,
  known: string | undefined,
): Promise<KeyPair | Fault> {
  const { world } = pass;
  const days = Number(parseDuration(duration)) / dayNs;
  const secret = await secretOf(pass, name, known === undefined, async () => {
    const { certificate, key } = await pooled.createAuthority(commonName, days, world);
    return { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
  });
  if (isFault(secret)) return secret;
  const found = authorityIn(secret, world.clock.now());
  if (isFault(found) || known === undefined || known === found.certificate) return found;
  const message = `${quoted(secret)} has another certificate than ConfigMap ${JSON.stringify(bundleName(pass.plane))}: restore the previous authority, because nodes and clients trust it`;
  return { reason: 'CAChanged', message };
}

/**
 * Returns the Secret, created if it does not exist and the control plane is new. Rejects with `AlreadyExists` if it was created meanwhile.
 */
async function secretOf(
  pass: Pass,
  name: string,
  isNew: boolean,
  data: () => Promise<Record<string, string>>,
): Promise<Secret | Fault> {
  const { plane, client, world, signal } = pass;
  const { namespace } = plane;
  const existing = await findObject(pass, Secret, { namespace, name });
  if (existing) return existing;
  const metadata = { namespace, name, labels: { [clusterNameLabel]: plane.name }, ownerReferences: [plane.owner] };
  if (!isNew) {
    const message = `${quoted({ metadata })} no longer exists: restore it from a backup, because nodes and clients depend on it`;
    return { reason: 'CAMissing', message };
  }
  const draft = { metadata, type: clusterSecretType, data: await data() };
  return world.writes.make(`secret-${name.slice(plane.name.length + 1)}`, () =>
    client.create(Secret, draft, { signal }),
  );
}

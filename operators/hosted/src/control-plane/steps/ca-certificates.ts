/**
 * Phase CACertificates: the authorities and the key of service accounts. Existing ones are used, and change only in a rotation. The bundle
 * of the next phase records which authorities the control plane has: one that disappears or changes afterwards is a fault, because nodes,
 * tokens and kubeconfigs depend on it.
 */

import { parseDuration } from '@hangar/api/values';
import { find } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { pooled } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { annotations, clusterNameLabel, clusterSecretType, rotateAnnotation } from '../../api/index.ts';
import { isFault } from '../../fault.ts';
import type { Fault } from '../../fault.ts';
import { authorityIn } from '../../pki/authorities.ts';
import { base64, quoted, textIn } from '../../pki/secrets.ts';
import { newServiceAccountKey, serviceAccountKeyIn } from '../../pki/service-account-key.ts';
import { isTrusted, nextName, previousName, signerOf } from '../../pki/signer.ts';
import type { Signer, SignerName } from '../../pki/signer.ts';
import { authorityNames, bundleName } from '../../render/index.ts';
import { findObject } from '../apply.ts';
import { noteExpiration } from '../figures.ts';
import type { Authorities, Pass, Rotation, Verdict } from '../pass.ts';
import { mustRotate } from '../rotation.ts';
import { bundleKeys } from './ca-bundle.ts';

const defaultDuration = '87600h';
const dayNs = 86_400_000_000_000;
/** Secrets of users are not watched. */
const requeueAfterMs = 15_000;

export async function caCertificates(pass: Pass): Promise<Verdict | undefined> {
  const { plane } = pass;
  const bundle = await findObject(pass, ConfigMap, { namespace: plane.namespace, name: bundleName(plane) });
  const found: Partial<Record<SignerName, Signer>> = {};
  const faults: Fault[] = [];
  for (const wish of wishesOf(pass)) {
    const rotation = await rotationOf(pass, wish, bundle?.data?.[bundleKeys[wish.of]]);
    if (isFault(rotation)) return { ...rotation, requeueAfterMs };
    const { fault } = rotation;
    if (fault) faults.push(fault);
    found[wish.of] = rotation.signer;
    pass.rotations.push(rotation);
    if (wish.of !== 'sa') noteExpiration(pass, wish.of, rotation.signer.certificate);
  }
  pass.authorities = found as Authorities;
  // Without a usable next authority, the current one still works.
  return faults[0] && { ...faults[0], isPartial: true, requeueAfterMs };
}

interface SignerWish {
  readonly of: SignerName;
  /** Of the Secret. */
  readonly name: string;
  readonly create: () => Promise<Record<string, string>>;
  readonly read: (secret: Secret) => KeyPair | Fault;
}

function wishesOf({ plane, world }: Pass): SignerWish[] {
  const { rootCaCertificateDuration, caCertificateDuration } = plane.spec.certificates ?? {};
  const { ca, etcd, proxy, serviceAccount } = authorityNames(plane);
  const authority = (commonName: string, duration = defaultDuration) => ({
    create: async () => {
      const days = Number(parseDuration(duration)) / dayNs;
      const { certificate, key } = await pooled.createAuthority(commonName, days, world);
      return { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
    },
    read: (secret: Secret) => authorityIn(secret, world.clock.now()),
  });
  return [
    { of: 'ca', name: ca, ...authority('kubernetes', rootCaCertificateDuration) },
    { of: 'etcd', name: etcd, ...authority('etcd-ca', caCertificateDuration) },
    { of: 'proxy', name: proxy, ...authority('front-proxy-ca', caCertificateDuration) },
    { of: 'sa', name: serviceAccount, create: newServiceAccountKey, read: serviceAccountKeyIn },
  ];
}

/** `known`: the certificates in the bundle. Absent: the control plane is new. */
async function rotationOf(pass: Pass, wish: SignerWish, known: string | undefined): Promise<Rotation | Fault> {
  const { of, name, create, read } = wish;
  const { plane, client, apiReader, world, signal } = pass;
  const { namespace } = plane;
  const secret = await currentSecret(pass, wish, known === undefined);
  if (isFault(secret)) return secret;
  const current = read(secret);
  if (isFault(current)) return current;
  if (of !== 'sa' && known !== undefined && !isTrusted(current, known, world.clock.now())) {
    const message = `${quoted(secret)} has another certificate than ConfigMap ${JSON.stringify(bundleName(plane))}: restore the previous authority, because nodes and clients trust it`;
    return { reason: 'CAChanged', message };
  }
  // Only from the cache: a stable control plane causes no requests.
  let [next, previous] = [
    await find(client, Secret, { namespace, name: nextName(name) }, { signal }),
    await find(client, Secret, { namespace, name: previousName(name) }, { signal }),
  ];
  // The cache can be behind a step that this operator has just made.
  if (next && !previous && textIn(next, 'tls.crt') === current.certificate) {
    previous = await find(apiReader, Secret, { namespace, name: previousName(name) }, { signal });
  }
  if (!next && !previous && mustRotate(pass, of, secret)) {
    next = await createSecret(pass, nextName(name), await create(), tokenOf(pass, of));
    world.metrics.rotated(of, 'started');
    world.events.event(pass.hostedControlPlane, {
      reason: 'RotationStarted',
      note: `components start to trust the pair in ${quoted(next)}`,
    });
  }
  const pair = next && read(next);
  const fault = pair && isFault(pair) ? pair : undefined;
  const nextPair = pair && !isFault(pair) ? pair : undefined;
  const signer = signerOf(current, nextPair, previous);
  return { of, signer, nextPair, fault, secrets: { current: secret, next, previous } };
}

/** Returns the Secret, created if the control plane is new. Rejects with `AlreadyExists` if it was created meanwhile. */
async function currentSecret(pass: Pass, { of, name, create }: SignerWish, isNew: boolean): Promise<Secret | Fault> {
  const { namespace } = pass.plane;
  const existing = await findObject(pass, Secret, { namespace, name });
  if (existing) return existing;
  if (isNew) return createSecret(pass, name, await create(), tokenOf(pass, of));
  const message = `${quoted({ metadata: { namespace, name } })} no longer exists: restore it from a backup, because nodes and clients depend on it`;
  return { reason: 'CAMissing', message };
}

/** The request that a new pair satisfies. */
const tokenOf = ({ hostedControlPlane }: Pass, of: SignerName): string | undefined =>
  hostedControlPlane.metadata.annotations?.[rotateAnnotation(of)];

function createSecret(
  { plane, client, world, signal }: Pass,
  name: string,
  data: Record<string, string>,
  token: string | undefined,
): Promise<Secret> {
  const metadata = {
    namespace: plane.namespace,
    name,
    labels: { [clusterNameLabel]: plane.name },
    ...(token === undefined ? {} : { annotations: { [annotations.rotation]: token } }),
    ownerReferences: [plane.owner],
  };
  return world.writes.make(`secret-${name.slice(plane.name.length + 1)}`, () =>
    client.create(Secret, { metadata, type: clusterSecretType, data }, { signal }),
  );
}

/** Phase Certificates with cert-manager: Issuers and Certificates instead of the built-in issuer. The Secrets are the same. */

import { X509Certificate } from 'node:crypto';
import { keyOf } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { findCondition, isControlledBy } from '@hangar/runtime';
import { clusterNameLabel } from '../../api/index.ts';
import { certificateNameAnnotation, Issuer } from '../../cert-manager/kinds.ts';
import type { Certificate } from '../../cert-manager/kinds.ts';
import { certificateObject, issuerName, issuerObject } from '../../cert-manager/objects.ts';
import { isFault } from '../../fault.ts';
import type { Fault } from '../../fault.ts';
import { textIn } from '../../pki/secrets.ts';
import type { CertificateWish } from '../../render/index.ts';
import { applyAll, applyObject, conflictFault, findObject } from '../apply.ts';
import { noteExpiration } from '../figures.ts';
import type { Pass, Verdict } from '../pass.ts';

const signed = ['ca', 'etcd', 'proxy'] as const;

export async function certManagerCertificates(pass: Pass): Promise<Verdict | undefined> {
  const { plane, rendering, authorities } = pass;
  const issuers = signed.map((of) => issuerObject(plane, of, authorities![of]));
  const fault = await applyAll(pass, issuers);
  if (fault) return fault;
  const waiting: string[] = [];
  for (const wish of rendering.certificates(plane)) {
    const outcome = await certificate(pass, wish);
    if (isFault(outcome)) return outcome;
    if (outcome) waiting.push(outcome);
  }
  if (waiting.length > 0) {
    const more = waiting.length > 1 ? `, and ${waiting.length - 1} more` : '';
    return { reason: 'WaitingForCertManager', message: `${waiting[0]}${more}` };
  }
  await removeIssuers(pass);
  return undefined;
}

/** Returns why the certificate cannot be used yet. */
async function certificate(pass: Pass, wish: CertificateWish): Promise<Fault | string | undefined> {
  const { plane, authorities, hostedControlPlane } = pass;
  const signer = authorities![wish.authority];
  const secret = await findObject(pass, Secret, { namespace: plane.namespace, name: wish.secret });
  const isOurs = !secret || isControlledBy(secret, hostedControlPlane) || isOf(secret, wish.secret);
  if (!isOurs) return conflictFault(secret);
  const applied = await applyObject<Certificate>(pass, certificateObject(plane, wish, signer));
  if (isFault(applied)) return applied;
  const { metadata, status } = applied;
  const ready = findCondition(status?.conditions, 'Ready');
  const isReady = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  const name = `Certificate ${JSON.stringify(`${metadata.namespace}/${metadata.name}`)}`;
  if (!secret || !isReady) return `${name} is not ready: ${ready?.message || 'cert-manager has not processed it yet'}`;
  if (!isIssuedBy(secret, signer.certificate)) return `${name} is not issued by the current authority yet`;
  noteExpiration(pass, 'components', textIn(secret, 'tls.crt'));
  if (!isControlledBy(secret, hostedControlPlane)) await adopt(pass, secret);
  return undefined;
}

const isOf = ({ metadata }: Secret, name: string): boolean =>
  metadata.annotations?.[certificateNameAnnotation] === name;

function isIssuedBy(secret: Secret, authority: string): boolean {
  try {
    return new X509Certificate(textIn(secret, 'tls.crt')).verify(new X509Certificate(authority).publicKey);
  } catch {
    return false;
  }
}

/** cert-manager leaves its Secrets behind: the garbage collector deletes them with the control plane. */
async function adopt({ plane, client, world, signal }: Pass, secret: Secret): Promise<void> {
  const { uid, resourceVersion, name = '' } = secret.metadata;
  const body = { metadata: { uid, resourceVersion, ownerReferences: [plane.owner] } };
  await world.writes.make(`secret-${name.slice(plane.name.length + 1)}-owner`, () =>
    client.patch(Secret, keyOf(secret), { type: 'merge', body }, { signal }),
  );
}

/** Deletes the Issuers of earlier authorities, which no Certificate refers to. */
async function removeIssuers({ plane, client, world, signal, authorities, hostedControlPlane }: Pass): Promise<void> {
  const wanted = new Set<string | undefined>(signed.map((of) => issuerName(plane, of, authorities![of])));
  const labelSelector = { [clusterNameLabel]: plane.name };
  const { items } = await client.list(Issuer, { namespace: plane.namespace, labelSelector, signal });
  for (const issuer of items) {
    if (wanted.has(issuer.metadata.name) || !isControlledBy(issuer, hostedControlPlane)) continue;
    const options = { preconditions: { uid: issuer.metadata.uid! }, signal };
    await world.writes.make('issuer-delete', () => client.delete(Issuer, keyOf(issuer), options));
  }
}

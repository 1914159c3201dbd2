/**
 * Rotation of authorities and of the key of service accounts. `pki/signer.ts` describes the steps. A step begins when all phases of the
 * previous one are complete, so every component has read the files of the previous step.
 */

import { parseDuration } from '@hangar/api/values';
import { keyOf } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { expiresAt } from '@hangar/pki';
import { isControlledBy } from '@hangar/runtime';
import type { NewCondition } from '@hangar/runtime';
import { annotations, clusterNameLabel, clusterSecretType, rotateAnnotation } from '../api/index.ts';
import { renewsAtMs } from '../pki/certificates.ts';
import { base64, quoted, textIn } from '../pki/secrets.ts';
import { previousData, previousKeys, previousName } from '../pki/signer.ts';
import type { SignerName } from '../pki/signer.ts';
import type { Pass, Rotation } from './pass.ts';

/** An authority is rotated when this part of its lifetime has passed: certificates of nodes need time to follow. */
const renewalPart = 4 / 5;
/** Kubernetes issues certificates of nodes and tokens of service accounts for at most one year. */
const defaultOverlap = '8760h';
const msNs = 1_000_000;

/** Reports whether a rotation is requested by annotation, or is due because the authority of this operator expires. */
export function mustRotate(pass: Pass, of: SignerName, current: Secret): boolean {
  const { hostedControlPlane, world } = pass;
  const token = hostedControlPlane.metadata.annotations?.[rotateAnnotation(of)];
  if (token && token !== current.metadata.annotations?.[annotations.rotation]) return true;
  if (of === 'sa' || !isControlledBy(current, hostedControlPlane)) return false;
  const atMs = renewsAtMs(textIn(current, 'tls.crt'), renewalPart);
  if (atMs > world.clock.now()) pass.wakeUps.push(atMs);
  return atMs <= world.clock.now();
}

/** Makes the next step of each rotation. All phases are complete. */
export async function advanceRotations(pass: Pass): Promise<void> {
  for (const rotation of pass.rotations) {
    const { signer, secrets } = rotation;
    if (signer.next !== undefined && !isOverlapping(rotation)) await sign(pass, rotation);
    else if (isOverlapping(rotation)) await dropWhenDue(pass, rotation);
    // Leftovers of an interrupted step.
    else if (secrets.previous) await remove(pass, secrets.previous);
    if (signer.next === undefined && rotation.nextPair) await remove(pass, secrets.next!);
  }
}

/** Components still trust a previous certificate. */
const isOverlapping = ({ signer, secrets: { previous } }: Rotation): boolean =>
  previous !== undefined && textIn(previous, previousKeys.trusted) !== signer.certificate;

/** Each write can be the last one: `signerOf` recognizes the states between them. */
async function sign(pass: Pass, { of, signer, nextPair, secrets }: Rotation): Promise<void> {
  const { plane, client, world, signal, hostedControlPlane } = pass;
  const { current, next, previous } = secrets;
  const name = previousName(current.metadata.name!);
  const { certificate, key } = nextPair!;
  const write = (suffix: string) => `rotate-${of}-${suffix}`;
  if (previous) await remove(pass, previous);
  const metadata = {
    namespace: plane.namespace,
    name,
    labels: { [clusterNameLabel]: plane.name },
    annotations: { [annotations.rotatedAt]: new Date(world.clock.now()).toISOString() },
    ownerReferences: [plane.owner],
  };
  const draft = { metadata, type: clusterSecretType, data: previousData(of, signer, nextPair!, world) };
  await world.writes.make(write('previous'), () => client.create(Secret, draft, { signal }));
  const { uid, resourceVersion } = current.metadata;
  const token = next!.metadata.annotations?.[annotations.rotation];
  const body = {
    metadata: { uid, resourceVersion, annotations: { [annotations.rotation]: token ?? null } },
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  };
  await world.writes.make(write('current'), () =>
    client.patch(Secret, keyOf(current), { type: 'merge', body }, { signal }),
  );
  await remove(pass, next!);
  world.metrics.rotated(of, 'signing');
  world.events.event(hostedControlPlane, { reason: 'RotationSigning', note: `${quoted(current)} has the new pair` });
}

async function dropWhenDue(pass: Pass, rotation: Rotation): Promise<void> {
  const { world, hostedControlPlane } = pass;
  const { current, previous } = rotation.secrets;
  const atMs = droppedAtMs(pass, rotation);
  if (atMs > world.clock.now()) {
    pass.wakeUps.push(atMs);
    return;
  }
  await remove(pass, previous!);
  world.metrics.rotated(rotation.of, 'complete');
  const note = `the previous pair of ${quoted(current)} is no longer trusted`;
  world.events.event(hostedControlPlane, { reason: 'RotationComplete', note });
}

/** Certificates of etcd and of the front proxy are all replaced in step 2. Nodes and tokens need longer. */
function droppedAtMs({ plane }: Pass, { of, secrets: { previous } }: Rotation): number {
  if (of === 'etcd' || of === 'proxy') return 0;
  const rotatedAtMs = Date.parse(previous!.metadata.annotations?.[annotations.rotatedAt] ?? '') || 0;
  const overlap = plane.spec.certificates?.overlapDuration ?? defaultOverlap;
  const atMs = rotatedAtMs + Number(parseDuration(overlap)) / msNs;
  return of === 'sa' ? atMs : Math.min(atMs, expiresAt(textIn(previous, previousKeys.trusted)));
}

async function remove({ client, world, plane, signal }: Pass, secret: Secret): Promise<void> {
  const { uid, name = '' } = secret.metadata;
  const write = `secret-${name.slice(plane.name.length + 1)}-delete`;
  const options = { preconditions: { uid: uid! }, signal };
  await world.writes.make(write, () =>
    client.delete(Secret, keyOf(secret), options).catch((error: unknown) => {
      if (!hasCode(error, 'NotFound')) throw error;
    }),
  );
}

/** The condition `CertificatesRotating`. `isComplete`: all phases are. */
export function rotationCondition(pass: Pass, isComplete: boolean): NewCondition {
  const type = 'CertificatesRotating';
  const active: string[] = [];
  const overlapping: string[] = [];
  for (const rotation of pass.rotations) {
    const { signer, secrets } = rotation;
    const name = quoted(secrets.current);
    if (signer.next !== undefined) active.push(`components start to trust the next pair of ${name}`);
    else if (isOverlapping(rotation) && !isComplete) active.push(`components start to use the new pair of ${name}`);
    else if (isOverlapping(rotation)) {
      const until = new Date(droppedAtMs(pass, rotation)).toISOString();
      overlapping.push(`the previous pair of ${name} is trusted until ${until}`);
    }
  }
  if (active.length > 0) return { type, status: true, reason: 'Rotating', message: active.join('; ') };
  if (overlapping.length > 0) return { type, status: false, reason: 'Overlapping', message: overlapping.join('; ') };
  return { type, status: false, reason: 'NotRotating' };
}

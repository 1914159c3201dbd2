/**
 * The join credentials of a node: a bootstrap token for a day, the address, and the fingerprint of the CA. Stored in the management
 * namespace first, and then put into the tenant: a token that is not stored would be an untracked credential.
 */

import { X509Certificate } from 'node:crypto';
import { createHash } from 'node:crypto';
import type { Random } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import { kubeconfigSecretName } from '../api/index.ts';
import { digestOf } from '../control-plane/digest.ts';
import {
  annotationOf,
  expiresAtMs,
  isIntact,
  renewsAtMs,
  secretAnnotations,
  textOf,
} from '../control-plane/kept-secret.ts';
import { joinPlace } from '../control-plane/nodes.ts';
import { kubeletConfiguration } from './objects.ts';
import type { SecretObject, WantedSecret } from '../control-plane/kept-secret.ts';
import type { Pass } from '../control-plane/world.ts';
import { renewalMs } from '../kubeconfig/renewal.ts';

export interface JoinMaterial {
  /** `abcdef.0123456789abcdef`. */
  readonly token: string;
  readonly expiresAtMs: number;
  readonly renewsAtMs: number;
}

export const joinSecretName = (controlPlane: string): string =>
  kubeconfigSecretName(controlPlane).replace(/-kubeconfig$/, '-join');

const lifeMs = 86_400_000;
export const joinKeys = [
  'token',
  'endpoint',
  'ca-hash',
  'ca.crt',
  'discovery.kubeconfig',
  'kubelet.yaml',
  'command',
] as const;
const tokenPattern = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;

export function newMaterial(nowMs: number, random: Random): JoinMaterial {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const word = (length: number): string => Array.from({ length }, () => letters[random.below(letters.length)]).join('');
  // Kubernetes stores whole seconds.
  const endMs = Math.floor((nowMs + lifeMs) / 1000) * 1000;
  return { token: `${word(6)}.${word(16)}`, expiresAtMs: endMs, renewsAtMs: renewalMs(nowMs, endMs, random) };
}

/** Returns the content of the Secret, while it is valid: undefined when a new token is due. */
export function materialOf(pass: Pass, secret: SecretObject | undefined): JoinMaterial | undefined {
  if (!isIntact(secret, joinKeys, pass.controlPlane)) return undefined;
  const token = textOf(secret, 'token');
  if (!tokenPattern.test(token)) return undefined;
  const material = { token, expiresAtMs: expiresAtMs(secret), renewsAtMs: renewsAtMs(secret) };
  // Without a join endpoint the first token simply expires: a user deletes the Secret to get another one.
  return pass.isJoinWanted && material.renewsAtMs <= pass.world.clock.now() ? undefined : material;
}

export const isJoinDue = (pass: Pass, secret: SecretObject | undefined): boolean =>
  materialOf(pass, secret) === undefined || annotationOf(secret, secretAnnotations.madeOf) !== inputsDigest(pass);

function inputsDigest(pass: Pass): string {
  const { server, ca } = joinPlace(pass);
  return digestOf([pass.plane!.uid, ca, server]);
}

export function joinSecret(pass: Pass, { token, expiresAtMs, renewsAtMs }: JoinMaterial): WantedSecret {
  const { controlPlane } = pass;
  const { server, ca } = joinPlace(pass);
  const caHash = authorityHash(ca);
  return {
    name: joinSecretName(controlPlane.metadata.name!),
    holds: 'join',
    madeOf: inputsDigest(pass),
    data: {
      token,
      endpoint: server,
      'ca-hash': caHash,
      'ca.crt': ca,
      'discovery.kubeconfig': kubeconfig({
        name: 'controlplane',
        user: 'bootstrap',
        server,
        authority: ca,
        credentials: { token },
      }),
      'kubelet.yaml': kubeletConfiguration(pass.nodes),
      command: joinCommand(server, token, caHash),
    },
    expiresAtMs,
    renewsAtMs,
  };
}

/**
 * kubeadm accepts a host and a port, and no path: an address with a path is passed in a file, the one under the key `discovery.kubeconfig`.
 */
function joinCommand(server: string, token: string, caHash: string): string {
  const { hostname, port, pathname } = new URL(server);
  const hash = caHash === '' ? '' : ` --discovery-token-ca-cert-hash ${caHash}`;
  if (pathname === '/' && hash !== '') return `kubeadm join ${hostname}:${port || 443} --token ${token}${hash}`;
  return `kubeadm join --discovery-file discovery.kubeconfig --tls-bootstrap-token ${token}`;
}

/** Hash of the first CA's public key, as kubeadm pins it. '' without a CA. */
function authorityHash(pem: string): string {
  if (pem === '') return '';
  const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** Join credentials of the nodes of a control plane, from the Secret that the operator keeps. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { controlPlaneGroup, isDedicated, Secret } from '../kinds.ts';
import type { ControlPlaneObject, SecretObject } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';
import { tenantOf } from './find.ts';
import { missing } from './ready.ts';

export interface JoinMaterial {
  /** `kubeadm join …`. */
  readonly command: string;
  readonly endpoint: string;
  readonly token: string;
  /** RFC 3339. */
  readonly expires: string;
  readonly caHash: string;
  readonly ca: string;
  readonly bootstrapKubeconfig: string;
  /** YAML. */
  readonly kubeletConfiguration: string;
}

export interface JoinOptions {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** Rejects with `Failed` if nodes cannot join, with the reason and the remedy. */
export async function joinMaterialOf(
  client: Client,
  plane: ControlPlaneObject,
  { nowMs, signal }: JoinOptions,
): Promise<JoinMaterial> {
  const planeName = plane.metadata.name!;
  // Every dedicated control plane accepts nodes.
  if (!isDedicated(plane) && !(await tenantOf(client, plane, signal)).spec?.nodes?.enabled) {
    const patch = `'{"spec":{"virtual":{"nodes":{"enabled":true}}}}'`;
    throw failed(`control plane ${quoted(planeName)} does not accept nodes`, {
      next: `to enable nodes: kubectl patch controlplane ${planeName} --type merge -p ${patch}`,
    });
  }
  const { name, namespace } = plane.status?.kubeconfigSecretRef ?? {};
  if (name === undefined || namespace === undefined) {
    throw failed(`control plane ${quoted(planeName)} is not ready yet: ${missing(plane)}`, {
      next: `see: ${hangar(`describe ${planeName}`)}`,
    });
  }
  const key = { namespace, name: name.replace(/-kubeconfig$/, '-join') };
  const where = `Secret ${key.namespace}/${key.name}`;
  const secret = await client.get(Secret, key, { signal }).catch((error: unknown) => {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed(`the ${where} of control plane ${quoted(planeName)} does not exist`, {
      next: 'the operator creates it again: try again in a moment',
      cause: error,
    });
  });
  const expires = secret.metadata.annotations?.[`${controlPlaneGroup}/expires`] ?? '';
  if (Date.parse(expires) <= nowMs) {
    throw failed(`the bootstrap token of control plane ${quoted(planeName)} expired at ${expires}`, {
      next: `to get another one: kubectl delete secret -n ${key.namespace} ${key.name}\nthe operator creates it again: see ${hangar('doctor')} if it does not`,
    });
  }
  return materialIn(secret, expires);
}

function materialIn({ data = {} }: SecretObject, expires: string): JoinMaterial {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return {
    command: text('command'),
    endpoint: text('endpoint'),
    token: text('token'),
    expires,
    caHash: text('ca-hash'),
    ca: text('ca.crt'),
    bootstrapKubeconfig: text('discovery.kubeconfig'),
    kubeletConfiguration: text('kubelet.yaml'),
  };
}

/** The kubeconfig of a control plane, from the Secret that its status names. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import { readAccess } from '../kubeconfig/access.ts';
import type { Access } from '../kubeconfig/access.ts';
import { Secret } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';
import { missing } from './ready.ts';
import { hangar } from '../hints.ts';

export interface AccessOptions {
  /** By the address that others reach it by. */
  readonly isExternal: boolean;
  readonly signal: AbortSignal;
}

/** Rejects with `Failed` when there is none. */
export async function accessOf(
  client: Client,
  plane: ControlPlaneObject,
  { isExternal, signal }: AccessOptions,
): Promise<Access> {
  const planeName = plane.metadata.name!;
  const { name, namespace } = plane.status?.kubeconfigSecretRef ?? {};
  if (name === undefined || namespace === undefined) {
    throw failed(`control plane ${quoted(planeName)} has no kubeconfig yet: ${missing(plane)}`, {
      next: `see: ${hangar(`describe ${planeName}`)}`,
    });
  }
  const where = `Secret ${namespace}/${name}`;
  const secret = await client.get(Secret, { namespace, name }, { signal }).catch((error: unknown) => {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed(`the ${where} of control plane ${quoted(planeName)} does not exist`, {
      next: 'the operator creates it again: try again in a moment',
      cause: error,
    });
  });
  const key = isExternal ? 'kubeconfig-external' : 'kubeconfig';
  const data = secret.data?.[key];
  if (data === undefined)
    throw failed(`the ${where} has no ${key}`, { next: `see: ${hangar(`describe ${planeName}`)}` });
  return readAccess(Buffer.from(data, 'base64').toString(), where);
}

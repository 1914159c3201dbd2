/** Finds control planes by name, and reports missing ones. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { similarTo } from '@hangar/core/command-line';
import { failed } from '../errors.ts';
import { clusterPathOf, ControlPlane, isDedicated, Tenant } from '../kinds.ts';
import type { ControlPlaneObject, TenantObject } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';
import { hangar } from '../hints.ts';

/** Rejects with `Failed` when there is none: with names that are similar, or with why there cannot be any. */
export async function findControlPlane(
  client: Client,
  name: string,
  signal?: AbortSignal,
): Promise<ControlPlaneObject> {
  try {
    return await client.get(ControlPlane, { name }, { signal });
  } catch (error) {
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'InvalidKey')) throw error;
    throw await notFound(client, name, error, signal);
  }
}

async function notFound(client: Client, name: string, cause: unknown, signal?: AbortSignal): Promise<Error> {
  const names = await controlPlaneNames(client, signal);
  const similar = similarTo(name, names);
  const next =
    similar.length > 0
      ? `did you mean ${similar.map(quoted).join(' or ')}?`
      : names.length === 0
        ? `there is none yet: ${hangar('create NAME')}`
        : `to list all: ${hangar('get')}`;
  return failed(`there is no control plane ${quoted(name)}`, { next, cause });
}

/** Rejects with `Failed` when the server does not serve control planes. */
export async function controlPlaneNames(client: Client, signal?: AbortSignal): Promise<string[]> {
  const { items } = await withDefinitions(client.metadata.list(ControlPlane, { signal }));
  return items.map(({ metadata }) => metadata.name ?? '');
}

/** Of a request for control planes as such: 404 means that the server does not have the kind. */
export async function withDefinitions<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed('the server does not serve ControlPlanes', {
      next: 'if the kubeconfig is that of a control plane, use that of the management plane: --kubeconfig FILE\nif Hangar was started with --bare, start it without --bare\non another Kubernetes, install the operator: see deploy/',
      cause: error,
    });
  }
}

/** Throws `Failed` for a dedicated control plane. `next` says what to do instead. */
export function insistOnVirtual(plane: ControlPlaneObject, next?: string): void {
  if (!isDedicated(plane)) return;
  const message = `control plane ${quoted(plane.metadata.name!)} has mode Dedicated: the command supports only mode Virtual`;
  throw failed(message, next === undefined ? {} : { next });
}

/** For commands that read or write the data of a tenant as a file. */
export const backupObjectsHint =
  'create a ControlPlaneBackup or a ControlPlaneRestore with controlPlaneRef.kind ControlPlane: see docs/guides/backup-and-disaster.md';

/** The tenant behind a virtual control plane. Rejects with `Failed` when there is none. */
export async function tenantOf(client: Client, plane: ControlPlaneObject, signal?: AbortSignal): Promise<TenantObject> {
  const { name } = plane.metadata;
  insistOnVirtual(plane);
  try {
    return await client.get(Tenant, { name: clusterPathOf(plane) }, { signal });
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed(`control plane ${quoted(name!)} has no tenant on this server`, {
      next: `it may not exist yet (${hangar(`describe ${name}`)}), or its tenants are in another Hangar: --kubeconfig FILE`,
      cause: error,
    });
  }
}

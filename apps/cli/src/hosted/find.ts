/** Finds HostedControlPlanes by name, in one namespace or in all, and reports missing ones. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { similarTo } from '@hangar/core/command-line';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { HostedControlPlane } from '../kinds.ts';
import type { HostedControlPlaneObject } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';

export interface HostedQuery {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with `Failed` when the server does not serve HostedControlPlanes. */
export async function listHosted(client: Client, query: HostedQuery): Promise<readonly HostedControlPlaneObject[]> {
  try {
    const { items } = await client.list(HostedControlPlane, query);
    return items.toSorted((a, b) => (fullName(a) < fullName(b) ? -1 : 1));
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed('the server does not serve HostedControlPlanes', {
      next: `start Hangar with them: ${hangar('up --hosted')}\non another Kubernetes, install the operator of hosted control planes`,
      cause: error,
    });
  }
}

/** Rejects with `Failed` when there is none, or when several namespaces have one. */
export async function findHosted(client: Client, name: string, query: HostedQuery): Promise<HostedControlPlaneObject> {
  const all = await listHosted(client, query);
  const found = all.filter(({ metadata }) => metadata.name === name);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const namespaces = found.map(({ metadata }) => metadata.namespace ?? '').join(', ');
    throw failed(`the namespaces ${namespaces} have a hosted control plane ${quoted(name)}`, {
      next: 'select one of them: --namespace NAMESPACE',
    });
  }
  const names = [...new Set(all.map(({ metadata }) => metadata.name ?? ''))];
  const similar = similarTo(name, names);
  const next =
    similar.length > 0 ? `did you mean ${similar.map(quoted).join(' or ')}?` : `to list all: ${hangar('hosted list')}`;
  const where = query.namespace === undefined ? '' : ` in namespace ${quoted(query.namespace)}`;
  throw failed(`there is no hosted control plane ${quoted(name)}${where}`, { next });
}

/** `default/demo`. */
export const fullName = ({ metadata }: HostedControlPlaneObject): string => `${metadata.namespace}/${metadata.name}`;

/**
 * The Secrets and ConfigMaps that a restored control plane needs and that the operator cannot create again: authorities, keys of service
 * accounts, and objects of users that API servers mount, such as the keys of encryption at rest.
 */

import { find } from '@hangar/client';
import type { Reader } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { nextName, previousName } from '../pki/signer.ts';
import { authorityNames } from '../render/index.ts';
import type { HostedControlPlaneSpec } from '../api/index.ts';
import type { StoredObject } from './payload.ts';

export interface PlaneObjectsQuery {
  readonly reader: Reader;
  readonly namespace: string;
  /** Prefix of the names of all objects. */
  readonly name: string;
  readonly spec: HostedControlPlaneSpec;
  /** Whether Secrets are read. */
  readonly includesKeys: boolean;
  readonly signal: AbortSignal;
}

/** Objects that do not exist are left out. */
export async function planeObjects(query: PlaneObjectsQuery): Promise<StoredObject[]> {
  const { reader, namespace, name, spec, includesKeys, signal } = query;
  const objects: StoredObject[] = [];
  const addSecret = async (role: StoredObject['role'], full: string): Promise<void> => {
    const secret = await find(reader, Secret, { namespace, name: full }, { signal });
    const shown = role === 'own' ? full.slice(name.length + 1) : full;
    if (secret) objects.push({ kind: 'Secret', role, name: shown, type: secret.type, data: secret.data });
  };
  const mounts = mountsOf(spec);
  if (includesKeys) {
    const names = Object.values(authorityNames({ name }));
    for (const one of names.flatMap((current) => [current, nextName(current), previousName(current)])) {
      await addSecret('own', one);
    }
    for (const one of mounts.secrets) await addSecret('mounted', one);
  }
  for (const one of mounts.configMaps) {
    const map = await find(reader, ConfigMap, { namespace, name: one }, { signal });
    if (map)
      objects.push({ kind: 'ConfigMap', role: 'mounted', name: one, data: map.data, binaryData: map.binaryData });
  }
  return objects;
}

function mountsOf({ deployment }: HostedControlPlaneSpec): { secrets: Set<string>; configMaps: Set<string> } {
  const mounts = Object.values(deployment?.apiServer?.mounts ?? {});
  return {
    secrets: new Set(mounts.flatMap(({ secret }) => secret?.secretName ?? [])),
    configMaps: new Set(mounts.flatMap(({ configMap }) => configMap?.name ?? [])),
  };
}

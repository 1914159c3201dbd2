/** Creates the Secrets and ConfigMaps of a backup for a new control plane. */

import { find } from '@hangar/client';
import type { ApiObject, Client, Kind, Reader } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { controllerReference } from '@hangar/runtime';
import { clusterNameLabel } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import type { StoredObject } from '../backup/payload.ts';
import type { Writes } from '../control-plane/writes.ts';

interface ObjectsWorld {
  readonly client: Client;
  readonly apiReader: Reader;
  readonly writes: Pick<Writes, 'make'>;
}

/** Existing objects stay as they are: an earlier attempt created them, or a user did. */
export async function createPlaneObjects(
  { client, apiReader, writes }: ObjectsWorld,
  object: HostedControlPlane,
  stored: readonly StoredObject[],
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name: plane } = object.metadata;
  for (const { kind, role, name, type, data, binaryData } of stored) {
    const key = { namespace, name: role === 'own' ? `${plane}-${name}` : name };
    const known = (kind === 'Secret' ? Secret : ConfigMap) as Kind<ApiObject>;
    if (await find(apiReader, known, key, { signal })) continue;
    // Objects that users created before stay when the control plane is deleted, like those that they create.
    const owned =
      role === 'own' ? { labels: { [clusterNameLabel]: plane! }, ownerReferences: [controllerReference(object)] } : {};
    const draft = {
      metadata: { ...key, ...owned },
      ...(type === undefined ? {} : { type }),
      ...(data === undefined ? {} : { data }),
      ...(binaryData === undefined ? {} : { binaryData }),
    };
    await writes.make(`restore-${kind.toLowerCase()}`, async () => {
      try {
        await client.create(known, draft as never, { signal });
      } catch (error) {
        if (!hasCode(error, 'AlreadyExists')) throw error;
      }
    });
  }
}

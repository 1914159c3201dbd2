/** The Secrets of a replica: the authorities and the key of service accounts of the tenant, so that its certificates and tokens stay valid. */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { controllerReference } from '@hangar/runtime';
import { clusterNameLabel, clusterSecretType } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import { planeNameOf } from '../backup/export.ts';
import type { Writes } from '../control-plane/writes.ts';
import { base64, quoted, textIn } from '../pki/secrets.ts';
import { publicKeyOf } from '../pki/service-account-key.ts';
import { authorityNames } from '../render/index.ts';
import { ReplicaError } from './contract.ts';
import type { ReplicaKeys } from './contract.ts';

interface SecretsWorld {
  readonly client: Client;
  readonly apiReader: Reader;
  readonly writes: Pick<Writes, 'make'>;
}

/** Creates missing Secrets. Throws `Refused` if one has another key: nodes and clients of another control plane depend on it. */
export async function ensureSecrets(
  world: SecretsWorld,
  object: HostedControlPlane,
  keys: ReplicaKeys,
  signal: AbortSignal,
): Promise<void> {
  const name = planeNameOf(object);
  const names = authorityNames({ name });
  const wanted = [
    [names.ca, keys.authority.certificate, keys.authority.key],
    [names.proxy, keys.frontProxyAuthority.certificate, keys.frontProxyAuthority.key],
    [names.serviceAccount, publicKeyOf(keys.serviceAccountKey), keys.serviceAccountKey],
  ] as const;
  for (const [secret, certificate, key] of wanted) {
    const metadata = {
      namespace: object.metadata.namespace!,
      name: secret,
      labels: { [clusterNameLabel]: name },
      ownerReferences: [controllerReference(object)],
    };
    const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
    await ensure(world, { apiVersion: 'v1', kind: 'Secret', metadata, type: clusterSecretType, data }, signal);
  }
}

async function ensure({ client, apiReader, writes }: SecretsWorld, secret: Secret, signal: AbortSignal): Promise<void> {
  const { namespace, name } = secret.metadata;
  const key = { namespace, name: name! };
  const existing = await find(apiReader, Secret, key, { signal });
  if (existing && textIn(existing, 'tls.key') !== textIn(secret, 'tls.key')) {
    throw new ReplicaError('Refused', `${quoted(secret)} exists with another key than that of the tenant: delete it`);
  }
  if (existing) return;
  await writes.make('replica-secret', async () => {
    try {
      await client.create(Secret, secret, { signal });
    } catch (error) {
      // The next attempt compares the key.
      if (!hasCode(error, 'AlreadyExists')) throw error;
      throw new ReplicaError('NotReady', `${quoted(secret)} was created at the same time`, { cause: error });
    }
  });
}

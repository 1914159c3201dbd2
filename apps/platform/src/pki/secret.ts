/** Writes the shared keys to a Secret of the cluster that the servers run in: created once, and never changed. */

import { hasCode } from '@hangar/core';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import type { PkiFiles } from './shared-pki.ts';

export interface SecretOptions {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Resolves with false if the Secret exists; it is not changed. Requires the permission to create Secrets in the namespace, not to read
 * them: the caller cannot learn the keys of a running platform.
 */
export async function createPkiSecret(
  client: Client,
  { namespace, name }: SecretOptions,
  files: PkiFiles,
): Promise<boolean> {
  try {
    await client.create(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name, labels: { 'app.kubernetes.io/part-of': 'hangar' } },
      type: 'Opaque',
      data: Object.fromEntries(Object.entries(files).map(([file, text]) => [file, base64(text)])),
    });
    return true;
  } catch (error) {
    if (hasCode(error, 'AlreadyExists')) return false;
    throw error;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Secrets are encrypted at rest: by the configuration that was given or, in the embedded store, with a key of this Hangar's
 * own, made at the first start. Secrets that were stored before are still read, and encrypted when they are next written.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '@hangar/core';
import {
  clustersPrefix,
  EncryptedStore,
  encryptionOf,
  EncryptionConfigurationError,
  isSealed,
  keysKey,
  tenantPrefix,
} from '@hangar/server';
import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { writeSecret } from './credentials.ts';
import { newEncryptionConfiguration } from './encryption-key.ts';
import { UsageError } from '../options/options.ts';
import type { PlatformOptions } from '../options/options.ts';

type EncryptionOptions = Pick<PlatformOptions, 'dataDirectory' | 'encryptionConfig' | 'store'>;

export async function encrypted(store: Store, prefix: string, options: EncryptionOptions): Promise<Store> {
  const file =
    options.encryptionConfig ??
    (options.store.type === 'embedded' ? await ownConfiguration(store, prefix, options) : undefined);
  if (file === undefined) return store;
  try {
    return new EncryptedStore(store, encryptionOf(await readFile(file, 'utf8'), prefix, systemRandom));
  } catch (error) {
    const isTheirs = error instanceof EncryptionConfigurationError || (error as { code?: string }).code === 'ENOENT';
    throw isTheirs ? new UsageError(`--encryption-provider-config: ${file}: ${(error as Error).message}`) : error;
  }
}

/** In kube-apiserver's format, so that one with this file reads this store, and keys are rotated by editing it. */
async function ownConfiguration(store: Store, prefix: string, { dataDirectory }: EncryptionOptions): Promise<string> {
  const file = join(dataDirectory, 'pki', 'encryption.yaml');
  const exists = await readFile(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      // Making another key over one that merely cannot be read would lose every secret.
      if (error.code !== 'ENOENT') throw error;
      return false;
    },
  );
  if (exists) return file;
  if (await hasSealedSecrets(store, prefix)) {
    throw new UsageError(
      `${file} is missing, and the store has Secrets that are encrypted with its key: restore the file, or set --encryption-provider-config`,
    );
  }
  await writeSecret(file, newEncryptionConfiguration(systemRandom));
  return file;
}

/** Of the management plane: what is written first is a token of its own controllers. And of tenants: each has keys. */
async function hasSealedSecrets(store: Store, prefix: string): Promise<boolean> {
  const { entries } = await store.range(prefixRange(`${prefix}/clusters/root/secrets/`), { limit: 1 });
  if (entries.some(({ value }) => isSealed(value))) return true;
  for await (const path of planes(store, prefix)) {
    const { entry } = await store.get(keysKey(tenantPrefix(prefix, path)));
    if (entry && isSealed(entry.value)) return true;
  }
  return false;
}

/** The paths of all control planes with data in the store, also those without a Tenant. */
async function* planes(store: Store, prefix: string): AsyncGenerator<string> {
  const all = prefixRange(clustersPrefix(prefix));
  for (let start = all.start; ;) {
    const [next] = (await store.range({ ...all, start }, { limit: 1, keysOnly: true })).entries;
    if (!next) return;
    const path = next.key.slice(all.start.length).split('/', 1)[0]!;
    yield path;
    start = prefixRange(tenantPrefix(prefix, path)).end!;
  }
}

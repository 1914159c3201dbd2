/** The store of this Hangar, as configured on the command line. */

import { readFile } from 'node:fs/promises';
import { openEmbeddedStore, openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { UsageError } from '@hangar/core/command-line';
import type { PlatformOptions } from '../options/options.ts';
import type { EtcdOptions, EtcdTlsFiles } from '../options/store.ts';

const historyRevisionsMax = 1_000_000;

export function openStore({ store, dataDirectory }: Pick<PlatformOptions, 'store' | 'dataDirectory'>): Promise<Store> {
  switch (store.type) {
    case 'embedded':
      return openEmbeddedStore({ directory: `${dataDirectory}/store` });
    case 'memory':
      return openMemoryStore();
    case 'etcd':
      return openEtcd(store);
  }
}

async function openEtcd({ endpoints, tls, compactionIntervalMs }: EtcdOptions): Promise<Store> {
  const [{ openEtcdStore }, read] = await Promise.all([import('@hangar/store/etcd'), tls && readTls(tls)]);
  return openEtcdStore({
    endpoints,
    ...(read && { tls: read }),
    history: historyPolicy(compactionIntervalMs),
  });
}

async function readTls({ ca, certificate, key }: EtcdTlsFiles) {
  return {
    ...(ca !== undefined && { ca: await readNamed('--etcd-cafile', ca) }),
    ...(certificate !== undefined && { cert: await readNamed('--etcd-certfile', certificate) }),
    ...(key !== undefined && { key: await readNamed('--etcd-keyfile', key) }),
  };
}

async function readNamed(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

const historyPolicy = (ageMs: number) => (ageMs > 0 ? { ageMs, revisionsMax: historyRevisionsMax } : undefined);

/**
 * The process that is killed: waits for a word on standard input, opens the store, reports its content, and writes until it is killed.
 * `node writer.ts <options as JSON>`. It loads only the driver that it uses: starting takes most of its lifetime.
 */

import { once } from 'node:events';
import { seededRandom } from '@hangar/core';
import type { EmbeddedStoreOptions, Store } from '@hangar/store';
import type { EtcdStoreOptions } from '@hangar/store/etcd';
import { prefixRange } from '../../packages/store/src/keys.ts';
import { load, loadPrefix } from './load.ts';
import { stateOf, tell } from './telling.ts';

export interface WriterOptions {
  embedded?: EmbeddedStoreOptions;
  etcd?: EtcdStoreOptions;
  seed: number;
  round: number;
  writers: number;
}

const options = JSON.parse(process.argv[2]!) as WriterOptions;
const end = (error: unknown) => {
  tell(['failed', error instanceof Error ? `${error.stack}` : String(error)]);
  process.exit(1);
};
process.on('uncaughtException', end);

const open = await opener(options);
tell(['note', 'ready']);
await once(process.stdin, 'data');
const store = await open();
const { revision, entries } = await stateOf(store, prefixRange(loadPrefix));
tell(['state', revision, [...entries]]);
const random = seededRandom(options.seed * 1_000 + options.round);
await load({ store, random, round: options.round, writers: options.writers });

async function opener({ embedded, etcd }: WriterOptions): Promise<() => Promise<Store>> {
  if (embedded) {
    const { openEmbeddedStore } = await import('../../packages/store/src/drivers/embedded/embedded-store.ts');
    return () => openEmbeddedStore(embedded);
  }
  const { openEtcdStore } = await import('../../packages/store/src/drivers/etcd/etcd-store.ts');
  return () => openEtcdStore(etcd!);
}

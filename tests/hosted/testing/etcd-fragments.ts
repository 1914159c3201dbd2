/** Fragments the database of etcd: writes large values, deletes them, and compacts. */

import type { Client } from '@hangar/client';
import { prefixRange } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import { etcdAccess } from './etcd-access.ts';
import type { EtcdAccessOptions } from './etcd-access.ts';

const prefix = '/fragments/';
const valueBytes = 512 * 1024;

/** Leaves about this many free bytes in the database of each member. */
export async function fragment(client: Client, options: EtcdAccessOptions, freeBytes = 256 * 2 ** 20): Promise<void> {
  const [{ endpoints, tls } = { endpoints: [], tls: {} }] = await etcdAccess(client, options);
  const store = await openEtcdStore({ endpoints, tls, requestTimeoutMs: 30_000 });
  try {
    const value = Buffer.alloc(valueBytes, 'x');
    for (let at = 0; at * valueBytes < freeBytes; at++) {
      await store.commit([{ type: 'put', key: `${prefix}${at}`, value }]);
    }
    const { revision } = await store.commit([{ type: 'deleteRange', range: prefixRange(prefix) }]);
    await store.compact(revision);
  } finally {
    await store.close();
  }
}

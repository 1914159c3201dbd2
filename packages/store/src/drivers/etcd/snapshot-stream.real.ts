/** Snapshots of a real etcd: complete, with a digest, and with bounded memory for a slow reader. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { hasCode } from '@hangar/core';
import { openEtcdStore } from './etcd-store.ts';
import { openEtcdMaintenance } from './maintenance.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

const valueBytes = 1_000_000;
const values = 64;

describe('snapshots of etcd', () => {
  let etcd: EtcdCluster;
  before(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true });
    const store = await openEtcdStore({ endpoints: etcd.endpoints, requestTimeoutMs: 30_000 });
    for (let at = 0; at < values; at++) {
      await store.commit([{ type: 'put', key: `/value-${at}`, value: new Uint8Array(valueBytes).fill(at) }]);
    }
    await store.close();
  });
  after(() => etcd.stop());

  test('a slow reader receives all bytes and their digest, and memory stays bounded', async () => {
    const maintenance = openEtcdMaintenance({ endpoints: etcd.endpoints });
    const startBytes = process.memoryUsage().arrayBuffers;
    const hash = createHash('sha256');
    let [size, peakBytes, last]: [number, number, Buffer] = [0, 0, Buffer.alloc(0)];
    for await (const part of maintenance.snapshot()) {
      hash.update(last);
      last = Buffer.from(part);
      size += part.length;
      peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers - startBytes);
      // Much slower than the member sends: without back-pressure, all bytes are in memory soon.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    maintenance.close();
    assert.ok(size > values * valueBytes, `${size} bytes`);
    // The last part can have the end of the database in front of the digest.
    hash.update(last.subarray(0, last.length - 32));
    assert.equal(last.subarray(-32).toString('hex'), hash.digest('hex'));
    assert.ok(peakBytes < 32_000_000, `${peakBytes} bytes in memory`);
  });

  test('a reader that stops early leaves the connection usable', async () => {
    const maintenance = openEtcdMaintenance({ endpoints: etcd.endpoints });
    for await (const part of maintenance.snapshot()) {
      assert.ok(part.length > 0);
      break;
    }
    assert.ok((await maintenance.status()).dbSizeBytes > 0);
    maintenance.close();
  });

  test('a member that disappears fails the snapshot', async () => {
    const maintenance = openEtcdMaintenance({ endpoints: etcd.endpoints, requestTimeoutMs: 1_000 });
    const read = async (): Promise<void> => {
      for await (const part of maintenance.snapshot()) if (part.length > 0) await etcd.members[0]!.kill();
    };
    await assert.rejects(read(), (error) => hasCode(error, 'Unavailable'));
    maintenance.close();
    await etcd.members[0]!.start();
  });
});

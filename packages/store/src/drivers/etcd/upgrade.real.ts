/** A real cluster of etcd 3.5 with a writer is upgraded to 3.6, one member at a time: what is possible until when. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from '../../../../../tools/tool.ts';
import { openEtcdStore } from './etcd-store.ts';
import { openEtcdMaintenance } from './maintenance.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

describe('an upgrade of etcd from 3.5 to 3.6', () => {
  let etcd: EtcdCluster;
  let [older, newer] = ['', ''];
  const opened = new AsyncDisposableStack();
  const acknowledged = new Map<string, string>();
  let isWriting = true;
  let writer: Promise<void>;

  before(async () => {
    [older, newer] = await Promise.all([tool('etcd-3.5', { log: console.log }), tool('etcd', { log: console.log })]);
    etcd = await startEtcd({ members: 3, program: older, unsafeNoFsync: true });
    const store = opened.adopt(await openEtcdStore({ endpoints: etcd.endpoints, requestTimeoutMs: 20_000 }), (one) =>
      one.close(),
    );
    const write = async (): Promise<void> => {
      for (let at = 0; isWriting; at++) {
        const [key, value] = [`/written/${at % 500}`, String(at)];
        await store.commit([{ type: 'put', key, value: Buffer.from(value) }]).then(
          () => acknowledged.set(key, value),
          // It may have been written: a later write decides.
          () => acknowledged.delete(key),
        );
      }
    };
    writer = write();
  });
  after(async () => {
    isWriting = false;
    await writer;
    await opened.disposeAsync();
    await etcd.stop();
  });

  const versions = async (): Promise<(readonly [string, string | undefined])[]> =>
    Promise.all(
      etcd.endpoints.map(async (endpoint) => {
        const one = openEtcdMaintenance({ endpoints: [endpoint] });
        const { version, storageVersion } = await one.status().finally(() => one.close());
        return [version.replace(/\.\d+$/, ''), storageVersion?.replace(/\.\d+$/, '')] as const;
      }),
    );
  const restart = async (at: number, program: string): Promise<void> => {
    await etcd.members[at]!.terminate();
    etcd.members[at]!.program = program;
    await etcd.members[at]!.start();
  };

  test('two of three members run 3.6, and the data keeps its format', async () => {
    await restart(0, newer);
    await restart(1, newer);
    assert.deepEqual(await versions(), [
      ['3.6', '3.5'],
      ['3.6', '3.5'],
      ['3.5', undefined],
    ]);
  });

  test('both return to 3.5', async () => {
    await restart(1, older);
    await restart(0, older);
    assert.deepEqual(
      (await versions()).map(([version]) => version),
      ['3.5', '3.5', '3.5'],
    );
  });

  test('after the last member, the data gets the new format, and 3.5 does not start with it', async () => {
    for (const at of [0, 1, 2]) await restart(at, newer);
    while (!(await versions()).every(([, storage]) => storage === '3.6')) await sleep(100);
    await etcd.members[0]!.terminate();
    etcd.members[0]!.program = older;
    await assert.rejects(etcd.members[0]!.start(), /cluster cannot be downgraded|invalid downgrade/);
    etcd.members[0]!.program = newer;
    await etcd.members[0]!.start();
  });

  test('no acknowledged write is lost', async () => {
    isWriting = false;
    await writer;
    assert.ok(acknowledged.size > 100, `${acknowledged.size} keys`);
    const store = await openEtcdStore({ endpoints: etcd.endpoints });
    try {
      for (const [key, value] of acknowledged) {
        assert.equal(Buffer.from((await store.get(key)).entry!.value).toString(), value, key);
      }
    } finally {
      store.close();
    }
  });
});

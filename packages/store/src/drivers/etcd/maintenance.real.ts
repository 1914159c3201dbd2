/** Maintenance of a real etcd cluster: sizes, a full database and its recovery, members. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hasCode } from '@hangar/core';
import { openEtcdMaintenance } from './maintenance.ts';
import { openEtcdStore } from './etcd-store.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

const quotaBytes = 2 ** 21;

describe('maintenance of etcd', () => {
  let etcd: EtcdCluster;
  const opened = new AsyncDisposableStack();
  const open = (endpoints: readonly string[]) => {
    const tls = { ca: etcd.tls!.ca, ...etcd.tls!.client };
    return opened.adopt(openEtcdMaintenance({ endpoints, tls, requestTimeoutMs: 20_000 }), (one) => one.close());
  };

  before(async () => {
    etcd = await startEtcd({
      members: 3,
      tls: true,
      unsafeNoFsync: true,
      args: [`--quota-backend-bytes=${quotaBytes}`],
    });
  });
  after(async () => {
    await opened.disposeAsync();
    await etcd.stop();
  });

  test('members have names, addresses and sizes; one of them is the leader', async () => {
    const members = await open(etcd.endpoints).members();
    assert.deepEqual(members.map(({ name }) => name).sort(), etcd.members.map(({ name }) => name).sort());
    assert.deepEqual(members.flatMap(({ clientUrls }) => clientUrls).sort(), [...etcd.endpoints].sort());
    const all = await Promise.all(etcd.endpoints.map((endpoint) => open([endpoint]).status()));
    assert.deepEqual(all.map(({ member }) => member).sort(), members.map(({ id }) => id).sort());
    assert.equal(new Set(all.map(({ leader }) => leader)).size, 1);
    for (const one of all) {
      assert.match(one.version, /^3\.\d+\.\d+$/);
      assert.equal(one.quotaBytes, quotaBytes);
      assert.ok(one.dbSizeBytes >= one.dbSizeInUseBytes && one.dbSizeInUseBytes > 0);
      assert.equal(one.isLearner, false);
    }
  });

  test('a full database raises the alarm, and recovers by compaction, defragmentation and disarming', async () => {
    const tls = { ca: etcd.tls!.ca, ...etcd.tls!.client };
    const store = opened.adopt(
      await openEtcdStore({ endpoints: etcd.endpoints, tls, requestTimeoutMs: 20_000 }),
      (one) => one.close(),
    );
    const maintenance = open(etcd.endpoints);
    assert.deepEqual(await maintenance.alarms(), []);
    const value = new Uint8Array(200_000);
    const put = (bytes: Uint8Array) => store.commit([{ type: 'put', key: '/fill', value: bytes }]);
    const fill = async (): Promise<never> => {
      for (;;) await put(value);
    };
    await assert.rejects(fill(), /database space exceeded/);
    const alarms = await maintenance.alarms();
    assert.ok(alarms.length > 0 && alarms.every(({ type }) => type === 'NOSPACE'), JSON.stringify(alarms));
    const members = etcd.endpoints.map((endpoint) => open([endpoint]));
    const statuses = () => Promise.all(members.map((member) => member.status()));
    const full = await statuses();
    assert.ok(full.some(({ dbSizeBytes }) => dbSizeBytes > quotaBytes / 2));
    const { revision } = await members[0]!.status();
    await maintenance.compact(revision);
    // It was compacted before.
    await maintenance.compact(revision);
    // A compaction is complete later, on the other members at another time. Only a defragmentation after it makes the file small.
    const isSmall = async () => (await statuses()).every((one) => one.dbSizeBytes < quotaBytes / 2);
    for (let attempt = 0; !(await isSmall()); attempt++) {
      assert.ok(attempt < 100, JSON.stringify({ full, now: await statuses() }));
      for (const member of members) await member.defragment();
    }
    // A member can raise its alarm later than another.
    for (let left = alarms; left.length > 0; left = await maintenance.alarms()) {
      for (const alarm of left) await maintenance.disarm(alarm);
    }
    await put(new Uint8Array(1));
  });

  test('a client without a certificate is refused', async () => {
    const refused = openEtcdMaintenance({ endpoints: etcd.endpoints, tls: { ca: etcd.tls!.ca } });
    await assert.rejects(refused.alarms(), (error) => hasCode(error, 'Unauthenticated'));
    refused.close();
  });
});

/** Changes of the members of a real etcd cluster: a lost member is replaced, the leader moves, and a cluster without a quorum answers. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '@hangar/core';
import { openEtcdMaintenance } from './maintenance.ts';
import type { MemberId } from './maintenance.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

describe('members of etcd', () => {
  let etcd: EtcdCluster;
  const opened = new AsyncDisposableStack();
  const open = (endpoints: readonly string[], requestTimeoutMs = 20_000) =>
    opened.adopt(openEtcdMaintenance({ endpoints, requestTimeoutMs }), (one) => one.close());
  /** etcd refuses changes while a member started less than five seconds ago. */
  const again = async <T>(call: () => Promise<T>): Promise<T> => {
    for (const endMs = Date.now() + 60_000; ; await delay(100)) {
      try {
        return await call();
      } catch (error) {
        if (Date.now() > endMs || !hasCode(error, 'Unavailable')) throw error;
      }
    }
  };

  before(async () => {
    etcd = await startEtcd({ members: 3, unsafeNoFsync: true });
  });
  after(async () => {
    await opened.disposeAsync();
    await etcd.stop();
  });

  test('a lost member is removed, added as a learner with an empty data directory, and promoted', async () => {
    const lost = etcd.members[0]!;
    const { member } = await open([lost.endpoint]).status();
    await lost.kill();
    const others = open(etcd.endpoints.slice(1));
    await again(() => others.removeMember(member));
    assert.equal((await others.members()).length, 2);
    await assert.rejects(others.removeMember(member), (error) => hasCode(error, 'InvalidRequest'));
    const added = await again(() => others.addLearner(lost.peerUrl));
    assert.notEqual(added.id, member);
    assert.deepEqual([added.isLearner, added.peerUrls, added.name], [true, [lost.peerUrl], '']);
    assert.equal(await others.promote(added.id), false);
    await lost.rejoin();
    const own = open([lost.endpoint]);
    assert.deepEqual([(await own.status()).isLearner, (await own.status()).member], [true, added.id]);
    while (!(await again(() => others.promote(added.id)))) await delay(50);
    const listed = (await others.members()).find(({ id }) => id === added.id);
    assert.deepEqual([listed?.name, listed?.isLearner], [lost.name, false]);
  });

  test('the leader moves to another member', async () => {
    const [leader, target] = [await etcd.leader(), await other()];
    await open([leader.endpoint]).moveLeader(target);
    for (;;) {
      if ((await open([leader.endpoint]).status()).leader === target) break;
      await delay(50);
    }
    await assert.rejects(open([leader.endpoint]).moveLeader(target), (error) => hasCode(error, 'InvalidRequest'));
  });

  test('without a quorum, a member answers its own status and members, and no change happens', async () => {
    await etcd.members[1]!.kill();
    await etcd.members[2]!.kill();
    const left = open([etcd.members[0]!.endpoint], 3_000);
    for (;;) {
      if ((await left.status()).leader === undefined) break;
      await delay(50);
    }
    const status = await left.status();
    assert.ok(status.revision >= 1 && status.raftTerm >= 2 && status.appliedIndex > 0);
    assert.equal((await left.localMembers()).length, 3);
    await assert.rejects(left.members(), (error) => hasCode(error, 'Unavailable'));
    await assert.rejects(left.removeMember('1' as MemberId), (error) => hasCode(error, 'Unavailable'));
  });

  async function other(): Promise<MemberId> {
    const leader = await etcd.leader();
    const one = etcd.members.find((member) => member !== leader)!;
    return (await open([one.endpoint]).status()).member;
  }
});

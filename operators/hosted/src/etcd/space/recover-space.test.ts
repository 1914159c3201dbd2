import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { mebibyte } from './member-space.ts';
import type { MemberSpace } from './member-space.ts';
import { recoverSpace } from './recover-space.ts';
import type { RecoveryResult, SpaceClient } from './recover-space.ts';

const quotaBytes = 100 * mebibyte;

/** Members whose history is removed some polls after a compaction. `dataBytes`: what a compaction of everything leaves. */
function fakeMembers({ dataBytes = 20 * mebibyte, revision = 5_000, missing = 0 } = {}) {
  const calls: string[] = [];
  let pollsLeft = 0;
  let kept = Infinity;
  const members: MemberSpace[] = ['a', 'b', 'c'].slice(missing).map((name) => ({
    name,
    isHealthy: true,
    isLeader: name === 'a',
    dbSizeBytes: quotaBytes + mebibyte,
    dbSizeInUseBytes: quotaBytes,
    quotaBytes,
  }));
  const change = (name: string | undefined, changes: (one: MemberSpace) => Partial<MemberSpace>): void => {
    for (const [at, one] of members.entries()) {
      if (name === undefined || one.name === name) members[at] = { ...one, ...changes(one) };
    }
  };
  const etcd: SpaceClient = {
    observe() {
      if (pollsLeft > 0 && --pollsLeft >= 0) {
        const historyBytes = Math.min(80 * mebibyte, kept * mebibyte);
        change(undefined, () => ({ dbSizeInUseBytes: dataBytes + historyBytes + pollsLeft }));
      }
      return Promise.resolve({ members: [...members], revision });
    },
    compact(to) {
      calls.push(`compact ${to}`);
      kept = revision - to;
      pollsLeft = 4;
      return Promise.resolve();
    },
    defragment(name) {
      calls.push(`defragment ${name}`);
      change(name, ({ dbSizeInUseBytes }) => ({ dbSizeBytes: dbSizeInUseBytes }));
      return Promise.resolve();
    },
    disarm() {
      calls.push('disarm');
      return Promise.resolve();
    },
  };
  return { etcd, calls };
}

async function recover(etcd: SpaceClient): Promise<RecoveryResult> {
  const clock = virtualClock();
  let result: RecoveryResult | undefined;
  const ended = recoverSpace(etcd, { clock, replicas: 3, signal: AbortSignal.timeout(10_000) });
  void ended.then((one) => (result = one));
  while (result === undefined) await clock.advance(1_000);
  return result;
}

const defragmented = ['defragment b', 'defragment c', 'defragment a'];

test('old revisions are removed, members are defragmented one after the other, the leader last, then writes work again', async () => {
  const { etcd, calls } = fakeMembers({ dataBytes: mebibyte });
  assert.deepEqual(await recover(etcd), { isRecovered: true });
  assert.deepEqual(calls, ['compact 4000', ...defragmented, 'disarm']);
});

test('more revisions are removed only if the data does not fit otherwise', async () => {
  const { etcd, calls } = fakeMembers({ dataBytes: 70 * mebibyte });
  assert.deepEqual(await recover(etcd), { isRecovered: true });
  assert.deepEqual(calls, ['compact 4000', 'compact 4900', 'compact 5000', ...defragmented, 'disarm']);
});

test('data that is in use is not removed: the alarm stays', async () => {
  const { etcd, calls } = fakeMembers({ dataBytes: 95 * mebibyte });
  const result = await recover(etcd);
  assert.deepEqual(result, { isRecovered: false, message: 'member "a": 95Mi of 100Mi are in use after compaction' });
  assert.ok(!calls.includes('disarm'));
});

test('no member is defragmented, and the alarm stays, while a member does not answer', async () => {
  const { etcd, calls } = fakeMembers({ missing: 1, dataBytes: mebibyte });
  const result = await recover(etcd);
  assert.deepEqual(result, { isRecovered: false, message: '1 of 3 members do not answer' });
  assert.deepEqual(calls, ['compact 4000']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mebibyte } from './member-space.ts';
import type { MemberSpace } from './member-space.ts';
import { compactionRevision, hasRoom, nextRecoveryMember, recoveryDelayMs, stillFull } from './recovery.ts';

const member = (
  name: string,
  sizeMebibytes: number,
  inUseMebibytes: number,
  changes: Partial<MemberSpace> = {},
): MemberSpace => ({
  name,
  isHealthy: true,
  isLeader: name === 'a',
  dbSizeBytes: sizeMebibytes * mebibyte,
  dbSizeInUseBytes: inUseMebibytes * mebibyte,
  quotaBytes: 100 * mebibyte,
  ...changes,
});
const three = (size: number, inUse: number): MemberSpace[] => ['a', 'b', 'c'].map((name) => member(name, size, inUse));

test('a compaction keeps the newest revisions', () => {
  assert.equal(compactionRevision(5_000, 1_000), 4_000);
  assert.equal(compactionRevision(5_000, 0), 5_000);
  assert.equal(compactionRevision(900, 1_000), undefined);
});

test('attempts are repeated less and less often, at least every ten minutes', () => {
  assert.deepEqual([0, 1, 2, 100].map(recoveryDelayMs), [30_000, 60_000, 120_000, 600_000]);
});

test('members with free space are defragmented once each, the leader last', () => {
  const done = new Set<string>();
  for (
    let name = nextRecoveryMember(three(100, 20), 3, done);
    name;
    name = nextRecoveryMember(three(100, 20), 3, done)
  ) {
    done.add(name);
  }
  assert.deepEqual([...done], ['b', 'c', 'a']);
  assert.equal(nextRecoveryMember(three(100, 96), 3, new Set()), undefined);
});

test('no member is defragmented while another one is not healthy', () => {
  const members = [member('a', 100, 20), member('b', 100, 20), member('c', 100, 20, { isHealthy: false })];
  assert.equal(nextRecoveryMember(members, 3, new Set()), undefined);
  assert.equal(nextRecoveryMember(members.slice(0, 2), 3, new Set()), undefined);
  assert.equal(nextRecoveryMember([member('a', 100, 20)], 1, new Set()), 'a');
});

test('the alarm is disarmed when all members answer and have room', () => {
  assert.equal(hasRoom(three(89, 20), 3), true);
  assert.equal(hasRoom(three(91, 91), 3), false);
  assert.equal(hasRoom(three(89, 20).slice(1), 3), false);
});

test('a control plane that stays full names the member and its sizes', () => {
  assert.equal(stillFull(three(101, 99), 3), 'member "a": 99Mi of 100Mi are in use after compaction');
  assert.equal(stillFull(three(101, 99).slice(1), 3), '1 of 3 members do not answer');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { defragmentationPeriodMs, nextDefragmentation } from './defragmentation.ts';
import type { DefragmentationInputs } from './defragmentation.ts';
import { hasQuorumWithout, mebibyte } from './member-space.ts';
import type { MemberSpace } from './member-space.ts';

const member = (name: string, changes: Partial<MemberSpace> = {}): MemberSpace => ({
  name,
  isHealthy: true,
  isLeader: false,
  dbSizeBytes: 200 * mebibyte,
  dbSizeInUseBytes: 190 * mebibyte,
  quotaBytes: 2_048 * mebibyte,
  ...changes,
});
const half = { dbSizeInUseBytes: 100 * mebibyte };
const next = (members: readonly MemberSpace[], changes: Partial<DefragmentationInputs> = {}): string | undefined =>
  nextDefragmentation({ members, replicas: members.length, isBusy: false, nowMs: 0, lastMs: new Map(), ...changes });
const three = (changes: Partial<MemberSpace>): MemberSpace[] => [
  member('a', { ...changes, isLeader: true }),
  member('b', changes),
  member('c', changes),
];

const cases: readonly (readonly [string, Partial<MemberSpace>, boolean])[] = [
  ['half of 200 MiB is free', half, true],
  ['less than half is free', { dbSizeInUseBytes: 101 * mebibyte }, false],
  ['half of a small file is free', { dbSizeBytes: 99 * mebibyte, dbSizeInUseBytes: mebibyte }, false],
  [
    'the file is at 80 % of the quota, a quarter is free',
    { quotaBytes: 250 * mebibyte, dbSizeInUseBytes: 150 * mebibyte },
    true,
  ],
  [
    'the file is at 80 % of the quota, less than a quarter is free',
    { quotaBytes: 250 * mebibyte, dbSizeInUseBytes: 151 * mebibyte },
    false,
  ],
  ['the file is empty', { dbSizeBytes: 0, dbSizeInUseBytes: 0 }, false],
];

for (const [name, changes, isWorthwhile] of cases) {
  test(`${name}: ${isWorthwhile ? 'defragmented' : 'not defragmented'}`, () => {
    assert.equal(next(three(changes)) !== undefined, isWorthwhile);
  });
}

test('the member with the most free space is first, the leader last', () => {
  const members = three(half);
  members[2] = member('c', { dbSizeInUseBytes: 50 * mebibyte });
  const order: string[] = [];
  for (let name = next(members); name; name = next(members)) {
    order.push(name);
    const at = members.findIndex((one) => one.name === name);
    members[at] = { ...members[at]!, dbSizeBytes: members[at]!.dbSizeInUseBytes };
  }
  assert.deepEqual(order, ['c', 'b', 'a']);
});

test('a member is defragmented at most once an hour', () => {
  const lastMs = new Map(['a', 'b', 'c'].map((name) => [name, 0]));
  assert.equal(next(three(half), { lastMs, nowMs: defragmentationPeriodMs - 1 }), undefined);
  assert.equal(next(three(half), { lastMs, nowMs: defragmentationPeriodMs }), 'b');
});

test('no member is defragmented while something else is in progress, or while a member is missing', () => {
  assert.equal(next(three(half), { isBusy: true }), undefined);
  assert.equal(next(three(half).slice(1), { replicas: 3 }), undefined);
});

test('a single member is defragmented only when the quota is close', () => {
  assert.equal(next([member('a', { ...half, isLeader: true })]), undefined);
  assert.equal(next([member('a', { ...half, isLeader: true, quotaBytes: 220 * mebibyte })]), 'a');
});

test('a defragmentation never leaves fewer healthy members than a quorum', () => {
  const random = seededRandom(18);
  const chance = (): boolean => random.fraction() < 0.5;
  let decided = 0;
  for (let round = 0; round < 5_000; round++) {
    const replicas = [3, 5][random.below(2)]!;
    const members = Array.from({ length: replicas }, (_, at) =>
      member(`m-${at}`, {
        isHealthy: random.fraction() < 0.8,
        isLeader: at === 0,
        dbSizeInUseBytes: random.below(200) * mebibyte,
        quotaBytes: (chance() ? 220 : 2_048) * mebibyte,
      }),
    );
    const name = next(members);
    if (name === undefined) continue;
    decided++;
    assert.ok(hasQuorumWithout(name, members, replicas), JSON.stringify({ name, members }));
    assert.ok(members.find((one) => one.name === name)!.isHealthy);
  }
  assert.ok(decided > 500, `${decided} decisions`);
});

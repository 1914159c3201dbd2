import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthyMember, memberId, observationOf, spaceSettings, statusOf } from '../testing/observations.ts';
import { mebibyte } from './member-space.ts';
import { planSpace } from './plan-space.ts';
import type { SpaceAction, SpaceHistory, SpaceSettings } from './plan-space.ts';

const quiet: SpaceHistory = { defragmentedMs: new Map(), attempts: 0, nextAttemptMs: -Infinity, isHeld: false };
const noSpace = [{ type: 'NOSPACE' as const, member: memberId(1) }];

interface Situation {
  readonly sizeMebibytes?: number;
  readonly inUseMebibytes?: number;
  readonly alarms?: typeof noSpace;
  readonly ready?: number;
  readonly settings?: Partial<SpaceSettings>;
  readonly history?: Partial<SpaceHistory>;
}

function plan(situation: Situation): SpaceAction | undefined {
  const { sizeMebibytes = 10, inUseMebibytes = 10, alarms = [], ready = 3, settings, history } = situation;
  const sizes = { dbSizeBytes: sizeMebibytes * mebibyte, dbSizeInUseBytes: inUseMebibytes * mebibyte };
  const members = [0, 1, 2].map((at) => ({ ...healthyMember(at), status: statusOf(at, sizes) }));
  const observation = observationOf({ members, alarms, set: { ready, isComplete: ready === 3 } });
  return planSpace(observation, { ...spaceSettings, ...settings }, { ...quiet, ...history }, 1_000);
}

test('a cluster without pressure needs no action', () => {
  assert.equal(plan({}), undefined);
});

test('a fragmented member that is not the leader is defragmented', () => {
  assert.deepEqual(plan({ sizeMebibytes: 200 }), { type: 'defragment', pod: 'demo-etcd-1' });
});

test('the alarm NOSPACE starts a recovery, then one after each delay', () => {
  assert.deepEqual(plan({ alarms: noSpace }), { type: 'recoverSpace', attempt: 0 });
  assert.equal(plan({ alarms: noSpace, history: { attempts: 2, nextAttemptMs: 1_001 } }), undefined);
  const due = { attempts: 2, nextAttemptMs: 1_000 };
  assert.deepEqual(plan({ alarms: noSpace, history: due }), { type: 'recoverSpace', attempt: 2 });
});

test('data that fills the quota makes volumes grow, also with the alarm', () => {
  const grow = { type: 'growVolumes', sizeBytes: 12 * 2 ** 30 };
  assert.deepEqual(plan({ sizeMebibytes: 3_000, inUseMebibytes: 2_900 }), grow);
  assert.deepEqual(plan({ sizeMebibytes: 3_900, inUseMebibytes: 3_839, alarms: noSpace }), grow);
  const fixed = { sizeMaxBytes: undefined };
  assert.equal(plan({ sizeMebibytes: 3_000, inUseMebibytes: 2_900, settings: fixed }), undefined);
  const growing = { sizeBytes: 12 * 2 ** 30 };
  assert.equal(plan({ sizeMebibytes: 3_000, inUseMebibytes: 2_900, settings: growing }), undefined);
});

test('nothing happens during a roll-out', () => {
  for (const alarms of [[], noSpace]) assert.equal(plan({ sizeMebibytes: 200, alarms, ready: 2 }), undefined);
});

test('no database is rewritten while a backup reads from a member', () => {
  assert.equal(plan({ sizeMebibytes: 200, history: { isHeld: true } }), undefined);
  assert.equal(plan({ alarms: noSpace, history: { isHeld: true } }), undefined);
});

test('a member of etcd 3.5, which does not report its quota, has that of the settings', () => {
  // 80 % of 250 MiB with a quarter free.
  assert.equal(plan({ sizeMebibytes: 200, inUseMebibytes: 150 }), undefined);
  const settings = { quotaBytes: 250 * mebibyte, sizeMaxBytes: undefined };
  assert.equal(plan({ sizeMebibytes: 200, inUseMebibytes: 150, settings })?.type, 'defragment');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextUpgrade } from './upgrade.ts';
import type { UpgradeInputs, UpgradeRecord } from './upgrade.ts';

const [older, newer] = ['3.5.26-0', '3.6.8-0'];
const inputs = (changes: Partial<UpgradeInputs> = {}): UpgradeInputs => ({
  current: older,
  wanted: newer,
  isCalm: true,
  snapshot: 'pending',
  isSnapshotWaived: false,
  isFinal: false,
  hasQuorum: true,
  newBackup: 'before-3-6',
  ...changes,
});
const record = (phase: UpgradeRecord['phase']): UpgradeRecord => ({
  from: older,
  to: newer,
  phase,
  backup: 'before-3-6',
});

test('an upgrade makes a snapshot, waits for it, rolls out and ends', () => {
  const first = nextUpgrade(inputs());
  assert.deepEqual(first, { tag: older, record: record('Snapshot') });
  const second = nextUpgrade(inputs({ record: record('Snapshot') }));
  assert.deepEqual([second.tag, second.fault?.reason], [older, 'EtcdUpgradeWaiting']);
  const third = nextUpgrade(inputs({ record: record('Snapshot'), snapshot: 'complete' }));
  assert.deepEqual(third, { tag: newer, record: record('Rolling') });
  assert.deepEqual(nextUpgrade(inputs({ record: record('Rolling') })), { tag: newer });
  const rolling = { current: newer, record: record('Rolling') };
  assert.deepEqual(nextUpgrade(inputs({ ...rolling, isCalm: false })), { tag: newer });
  assert.deepEqual(nextUpgrade(inputs(rolling)), { tag: newer, record: 'none' });
  assert.deepEqual(nextUpgrade(inputs({ current: newer })), { tag: newer });
});

test('an upgrade does not begin while members are missing or an alarm is raised', () => {
  assert.deepEqual(nextUpgrade(inputs({ isCalm: false })), { tag: older });
  assert.deepEqual(nextUpgrade(inputs({ isCalm: false, record: record('Snapshot'), snapshot: 'complete' })), {
    tag: older,
  });
});

test('a member that does not work with the new version brings the previous one back, once', () => {
  const rolling = { current: newer, record: record('Rolling'), isCalm: false, trouble: 'exited 3 times' };
  assert.deepEqual(nextUpgrade(inputs(rolling)), { tag: older, record: 'none', failed: newer });
  const after = nextUpgrade(inputs({ failed: newer }));
  assert.deepEqual([after.tag, after.fault?.reason], [older, 'EtcdUpgradeFailed']);
  // Another version is a new upgrade.
  assert.equal(nextUpgrade(inputs({ failed: '3.6.5-0' })).record !== undefined, true);
});

test('data in the format of the new version does not return without the snapshot', () => {
  const final = {
    current: newer,
    record: record('Rolling'),
    isCalm: false,
    trouble: 'exited 3 times',
    isFinal: true,
    hasQuorum: false,
  };
  const restored = { tag: older, record: 'none', failed: newer, restores: 'before-3-6' };
  assert.deepEqual(nextUpgrade(inputs(final)), restored);
  const without = nextUpgrade(inputs({ ...final, record: { ...record('Rolling'), backup: '' } }));
  assert.deepEqual([without.tag, without.fault?.reason], [newer, 'EtcdUpgradeFailed']);
  // The others have a quorum: the member is replaced.
  assert.deepEqual(nextUpgrade(inputs({ ...final, hasQuorum: true })), { tag: newer });
});

test('an upgrade without a snapshot needs the consent of a user', () => {
  const failed = { reason: 'BucketFull', message: 'the bucket is full' };
  for (const snapshot of ['unavailable', failed] as const) {
    const { tag, fault } = nextUpgrade(inputs({ record: record('Snapshot'), snapshot }));
    assert.equal(tag, older);
    assert.match(fault!.message, /etcd-upgrade-without-snapshot/);
  }
  const waived = nextUpgrade(inputs({ isSnapshotWaived: true }));
  assert.deepEqual(waived, { tag: newer, record: { ...record('Rolling'), backup: '' } });
});

test('a patch of the same minor version needs no snapshot, also while members are missing', () => {
  assert.deepEqual(nextUpgrade(inputs({ wanted: '3.5.35-0', isCalm: false })), { tag: '3.5.35-0' });
});

test('an old patch is updated before the next minor version', () => {
  assert.deepEqual(nextUpgrade(inputs({ current: '3.5.24-0' })), { tag: older });
});

test('a request that is withdrawn before the roll-out removes the record', () => {
  assert.deepEqual(nextUpgrade(inputs({ wanted: older, record: record('Snapshot') })), { tag: older, record: 'none' });
});

test('a downgrade is refused', () => {
  const { tag, fault } = nextUpgrade(inputs({ current: newer, wanted: older }));
  assert.deepEqual([tag, fault?.reason], [newer, 'EtcdDowngrade']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextVolumeSize } from './growth.ts';
import type { GrowthInputs } from './growth.ts';
import { gibibyte, mebibyte } from './member-space.ts';

const inputs = (inUseMebibytes: number, changes: Partial<GrowthInputs> = {}): GrowthInputs => ({
  members: [0, 1, 2].map((at) => ({
    name: `m-${at}`,
    isHealthy: true,
    isLeader: at === 0,
    dbSizeBytes: 3_000 * mebibyte,
    dbSizeInUseBytes: inUseMebibytes * mebibyte,
    quotaBytes: 3_840 * mebibyte,
  })),
  sizeBytes: 8 * gibibyte,
  capacityBytes: 8 * gibibyte,
  sizeMaxBytes: 20 * gibibyte,
  hasDerivedQuota: true,
  ...changes,
});

test('volumes grow by half when 70 % of the quota are in use', () => {
  assert.deepEqual(nextVolumeSize(inputs(2_687)), { type: 'none' });
  assert.deepEqual(nextVolumeSize(inputs(2_688)), { type: 'grow', sizeBytes: 12 * gibibyte });
});

test('free pages of the database do not count', () => {
  assert.deepEqual(nextVolumeSize(inputs(100)), { type: 'none' });
});

test('a growth in progress is not repeated', () => {
  assert.deepEqual(nextVolumeSize(inputs(3_000, { sizeBytes: 12 * gibibyte })), { type: 'none' });
});

test('volumes grow to the maximum, and not further', () => {
  const near = { sizeBytes: 18 * gibibyte, capacityBytes: 18 * gibibyte };
  assert.deepEqual(nextVolumeSize(inputs(3_800, near)), { type: 'grow', sizeBytes: 20 * gibibyte });
  const at = { sizeBytes: 20 * gibibyte, capacityBytes: 20 * gibibyte };
  assert.deepEqual(nextVolumeSize(inputs(3_800, at)), { type: 'atMaximum' });
  const beyond = { sizeBytes: 30 * gibibyte, capacityBytes: 30 * gibibyte };
  assert.deepEqual(nextVolumeSize(inputs(3_800, beyond)), { type: 'atMaximum' });
});

test('with a quota of the user, volumes grow only when they cannot hold the data and its copy', () => {
  const own = { hasDerivedQuota: false };
  assert.deepEqual(nextVolumeSize(inputs(3_000, own)), { type: 'none' });
  assert.deepEqual(nextVolumeSize(inputs(3_100, own)), { type: 'grow', sizeBytes: 12 * gibibyte });
});

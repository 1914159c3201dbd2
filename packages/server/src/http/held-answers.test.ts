import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Activity, runActivity } from '@hangar/core';
import { HeldAnswers } from './held-answers.ts';

const limits = { connectionBytes: 300_000, tenantBytes: 500_000 };

function hold(held: HeldAnswers, tenant: string, length: number): (() => void) | undefined {
  const activity = new Activity('GET', '/');
  activity.enterTenant(tenant);
  return runActivity(activity, () => held.hold(length));
}

test('a connection holds answers up to its limit, and one answer of any size', () => {
  const held = new HeldAnswers(limits);
  const first = hold(held, 'one', 200_000);
  assert.ok(first);
  assert.equal(hold(held, 'one', 200_000), undefined);
  first();
  const larger = hold(held, 'one', 1_000_000);
  assert.ok(larger);
  larger();
});

test('connections of one control plane share a limit, and other control planes are not affected', () => {
  const connections = Array.from({ length: 4 }, () => new HeldAnswers(limits));
  const held = connections.map((one) => hold(one, 'two', 200_000));
  assert.deepEqual(
    held.map((one) => one !== undefined),
    [true, true, false, false],
  );
  const others = connections.map((one) => hold(one, '', 50_000) !== undefined && hold(one, 'three', 50_000));
  assert.ok(others.every((one) => one));
  held[0]!();
  const again = hold(connections[3]!, 'two', 200_000);
  assert.ok(again);
  for (const one of [held[1], again]) one!();
});

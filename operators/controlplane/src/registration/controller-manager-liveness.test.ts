import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Logger } from '@hangar/core';
import type { ShardLease } from '@hangar/runtime/clusters';
import { virtualClock } from '@hangar/testkit';
import { ControllerManagerLiveness, keyOfReference } from './controller-manager-liveness.ts';

const group = 'controller-manager';
const reference = { leaseNamespace: 'kube-system', leaseGroup: group };

interface LeaseFacts {
  readonly peer?: string;
  readonly version: number;
  readonly state?: 'active' | 'leaving' | 'gone';
  readonly shard?: string;
}

const leaseOf = ({ peer = 'first', version, state = 'active', shard }: LeaseFacts): ShardLease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    namespace: reference.leaseNamespace,
    name: `hangar-shard.${group}.peer.${peer}`,
    resourceVersion: String(version),
    labels: { 'hangar.dev/shard-group': group },
    annotations: {
      'hangar.dev/shard-peer': JSON.stringify({
        name: peer,
        id: 'x',
        state,
        weight: 1,
        leaseMs: 7_000,
        epochMax: 1,
        draining: [],
        heldCount: 1,
        ...(shard === undefined ? {} : { shard }),
      }),
    },
  },
  spec: { leaseDurationSeconds: 7 },
});

/** `stored`: what the server has, which the watch may not have shown yet. */
function world() {
  const clock = virtualClock();
  const log = new Logger({ level: 'silent', format: 'text', clock });
  const stored: ShardLease[] = [];
  let failures = 0;
  const management = {
    list: async () => {
      if (failures > 0) {
        failures--;
        throw new Error('the server cannot be reached');
      }
      return { items: stored, resourceVersion: '1' };
    },
  };
  const liveness = new ControllerManagerLiveness({ management: management as never, clock, log });
  return {
    clock,
    liveness,
    stored,
    fail: (count: number) => (failures = count),
    see(facts: LeaseFacts) {
      const lease = leaseOf(facts);
      stored.splice(0, stored.length, ...stored.filter(({ metadata }) => metadata.name !== lease.metadata.name), lease);
      liveness.observe(lease);
    },
  };
}

describe('a controller manager', () => {
  test('is lost within 30 s after its last renewal, and not before its Lease has expired', async () => {
    const { clock, liveness, see } = world();
    for (let version = 1; version <= 20; version++) {
      see({ version });
      await clock.advance(2_000);
      assert.equal(liveness.isLost(reference), false);
    }
    await clock.advance(5_000);
    assert.equal(liveness.isLost(reference), false);
    await clock.advance(23_000);
    assert.equal(liveness.isLost(reference), true);
  });

  test('is not lost while one of its replicas renews', async () => {
    const { clock, liveness, see } = world();
    see({ peer: 'second', version: 1 });
    for (let version = 2; version <= 30; version++) {
      see({ version });
      await clock.advance(2_000);
    }
    assert.equal(liveness.isLost(reference), false);
  });

  test('that exits is lost after the grace period, and one that restarts within it is not', async () => {
    const { clock, liveness, see } = world();
    see({ version: 1 });
    see({ version: 2, state: 'gone' });
    await clock.advance(9_000);
    see({ version: 3 });
    await clock.advance(6_000);
    assert.equal(liveness.isLost(reference), false);
    see({ version: 4, state: 'gone' });
    await clock.advance(10_001);
    assert.equal(liveness.isLost(reference), true);
    see({ version: 5 });
    assert.equal(liveness.isLost(reference), false, 'it is back');
  });

  test('whose Leases never existed is lost after the grace period', async () => {
    const { clock, liveness } = world();
    assert.equal(liveness.isLost(reference), false);
    await clock.advance(10_001);
    assert.equal(liveness.isLost(reference), true);
  });

  test('is not lost when only the watch of its Leases lags, or the server cannot be read', async () => {
    const { clock, liveness, see, stored, fail } = world();
    see({ version: 1 });
    stored.splice(0, 1, leaseOf({ version: 9 }));
    await clock.advance(20_000);
    assert.equal(liveness.isLost(reference), false);
    fail(3);
    await clock.advance(18_000);
    assert.equal(liveness.isLost(reference), false);
    await clock.advance(30_000);
    assert.equal(liveness.isLost(reference), true);
  });

  test('of a static shard does not stand in for another shard', async () => {
    const { clock, liveness, see } = world();
    const [eu, us] = ['eu', 'us'].map((shard) => ({ ...reference, shard }));
    see({ peer: 'in-us', version: 1, shard: 'us' });
    for (let version = 2; version <= 20; version++) {
      see({ peer: 'in-eu', version, shard: 'eu' });
      await clock.advance(2_000);
    }
    assert.equal(liveness.isLost(eu!), false);
    assert.equal(liveness.isLost(us!), true);
    assert.notEqual(keyOfReference(eu!), keyOfReference(us!));
  });
});

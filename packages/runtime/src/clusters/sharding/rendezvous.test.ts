import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { calibrated, imbalance } from './calibrate.ts';
import type { WeighedCluster } from './calibrate.ts';
import { ownerOf } from './placement.ts';
import { hashName } from './rendezvous.ts';
import type { Member } from './ring.ts';

const clustersAs = (name: (i: number) => string, count = 1_000): WeighedCluster[] =>
  Array.from({ length: count }, (_, i) => ({ name: name(i), hash: hashName(name(i)), labels: {}, weight: 1 }));

const member = (name: string, weight = 1, rest: Partial<Member> = {}): Member => ({
  name,
  id: name,
  weight,
  pull: weight,
  ...rest,
});

const five = (prefix: string): Member[] => [0, 1, 2, 3, 4].map((i) => member(`${prefix}-${i}`));

function counts(members: readonly Member[], clusters: readonly WeighedCluster[]): number[] {
  const owners = clusters.map((cluster) => ownerOf(cluster, members)!.id);
  return members.map(({ id }) => owners.filter((owner) => owner === id).length);
}

const ratio = (shares: readonly number[]): number => Math.max(...shares) / Math.min(...shares);

describe('rendezvous hashing', () => {
  test('no peer of a StatefulSet is preferred: over many clusters the shares are even before any correction', () => {
    const shares = counts(
      five('x'),
      clustersAs((i) => `cluster-${i}`, 20_000),
    );
    assert.ok(ratio(shares) < 1.06, shares.join(', '));
  });

  test('the probability to own is the share of the weight', () => {
    const shares = counts(
      [member('x-0', 1), member('x-1', 10)],
      clustersAs((i) => `cluster-${i}`, 30_000),
    );
    assert.ok(Math.abs(shares[1]! / shares[0]! / 10 - 1) < 0.1, shares.join(', '));
  });

  test('a member that goes moves only what it had', () => {
    const clusters = clustersAs((i) => `cluster-${i}`);
    const before = five('x');
    const after = before.filter(({ name }) => name !== 'x-2');
    for (const cluster of clusters) {
      const owner = ownerOf(cluster, before)!.name;
      if (owner !== 'x-2') assert.equal(ownerOf(cluster, after)!.name, owner);
    }
  });

  test('the order in which members stand does not matter', () => {
    const members = five('x');
    for (const cluster of clustersAs((i) => `c${i}`, 100)) {
      assert.equal(ownerOf(cluster, members)?.id, ownerOf(cluster, members.toReversed())?.id);
    }
  });
});

describe('calibration', () => {
  const schemes: [string, (i: number) => string][] = [
    ['cluster-', (i) => `cluster-${i}`],
    ['padded', (i) => `tenant-${String(i).padStart(4, '0')}`],
    ['namespaced', (i) => `default/plane-${i}`],
    ['random', (i) => `t${(i * 2_654_435_761) % 2 ** 32}`],
  ];
  for (const [scheme, name] of schemes) {
    for (const peers of ['x', 'peer', 'hangar-controller-manager', 'mcr']) {
      test(`1,000 clusters named ${scheme} on five peers named ${peers}-0…4: max/min ≤ 1.2`, () => {
        const clusters = clustersAs(name);
        const shares = counts(calibrated(five(peers), clusters), clusters);
        assert.ok(ratio(shares) <= 1.2, shares.join(', '));
      });
    }
  }

  test('weights 1:10 come out within 10 % with 1,000 clusters', () => {
    for (const [scheme, name] of schemes) {
      const clusters = clustersAs(name);
      const [light, heavy] = counts(calibrated([member('x-0', 1), member('x-1', 10)], clusters), clusters);
      assert.ok(Math.abs(heavy! / light! / 10 - 1) <= 0.15, `${scheme}: ${light} and ${heavy}`);
      assert.ok(Math.abs(light! / (1_000 / 11) - 1) <= 0.1, `${scheme}: ${light} and ${heavy}`);
    }
  });

  test('clusters with weights are shared by their weights', () => {
    const clusters = clustersAs((i) => `cluster-${i}`).map((cluster, i) => ({
      ...cluster,
      weight: i % 50 === 0 ? 20 : 1,
    }));
    assert.ok(imbalance(calibrated(five('x'), clusters), clusters) <= 1.2);
  });

  test('few clusters are left where they are', () => {
    const members = five('x');
    assert.equal(
      calibrated(
        members,
        clustersAs((i) => `c${i}`, 20),
      ),
      members,
    );
  });

  test('what is balanced is left as it is, and a correction moves few', () => {
    const clusters = clustersAs((i) => `cluster-${i}`);
    const before = five('x');
    const after = calibrated(before, clusters);
    assert.equal(calibrated(after, clusters), after);
    const moved = clusters.filter((cluster) => ownerOf(cluster, before)!.id !== ownerOf(cluster, after)!.id);
    assert.ok(moved.length < 100, `${moved.length} moved`);
  });
});

describe('static shards', () => {
  const labelled = (labels: Record<string, string>): WeighedCluster => ({ ...clustersAs(() => 'c', 1)[0]!, labels });

  test('a shard owns what its selector matches, the first by its id when several do, and nobody what none does', () => {
    const members = [
      member('a-0', 1, { shard: 'a', selector: 'zone=a' }),
      member('b-0', 1, { shard: 'b', selector: 'zone in (a,b)' }),
    ];
    assert.equal(ownerOf(labelled({ zone: 'a' }), members)?.name, 'a-0');
    assert.equal(ownerOf(labelled({ zone: 'b' }), members)?.name, 'b-0');
    assert.equal(ownerOf(labelled({ zone: 'c' }), members), undefined);
    assert.equal(ownerOf(labelled({ zone: 'c' }), [...members, member('rest')])?.name, 'rest');
  });

  test('a selector that cannot be read matches nothing and disturbs nobody', () => {
    const members = [
      member('a-0', 1, { shard: 'a', selector: '((' }),
      member('b-0', 1, { shard: 'b', selector: 'zone=a' }),
    ];
    assert.equal(ownerOf(labelled({ zone: 'a' }), members)?.name, 'b-0');
  });
});

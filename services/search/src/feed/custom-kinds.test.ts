import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UnknownObject } from '@hangar/client';
import { CustomKinds } from './custom-kinds.ts';

const definitionOf = (plural: string): UnknownObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind: plural },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
});

/** The resources that a feed follows, at most six. */
class Followed {
  readonly plurals = new Set<string>();
  readonly limited = new Set<string>();
  readonly kinds = new CustomKinds(
    {
      added: ({ plural }) => void this.plurals.add(plural),
      removed: ({ plural }) => void this.plurals.delete(plural),
      limited: (cluster) => void this.limited.add(cluster),
    },
    { ownCluster: 'root', kindsMax: 6 },
  );

  put(cluster: string, ...plurals: readonly string[]): void {
    for (const one of plurals) this.kinds.put(cluster, definitionOf(one));
  }

  delete(cluster: string, plural: string): void {
    this.kinds.delete(cluster, definitionOf(plural));
  }

  state(): readonly [followed: string, limited: string] {
    return [[...this.plurals].toSorted().join(' '), [...this.limited].toSorted().join(' ')];
  }
}

test('at the limit, control planes with the most resources lose theirs to those with fewer', () => {
  const followed = new Followed();
  followed.put('red', 'r1', 'r2', 'r3', 'r4');
  followed.put('blue', 'b1', 'b2');
  assert.deepEqual(followed.state(), ['b1 b2 r1 r2 r3 r4', '']);
  followed.put('green', 'g1', 'g2');
  assert.deepEqual(followed.state(), ['b1 b2 g1 g2 r1 r2', 'red']);
  followed.put('green', 'g3');
  followed.put('red', 'r3');
  assert.deepEqual(followed.state(), ['b1 b2 g1 g2 r1 r2', 'green red']);
});

test('a resource with several definitions stays for the control planes that keep it', () => {
  const followed = new Followed();
  followed.put('red', 'shared', 'r1', 'r2', 'r3', 'r4', 'r5');
  followed.put('blue', 'shared');
  followed.put('green', 'g1', 'g2', 'g3');
  assert.deepEqual(followed.state(), ['g1 g2 g3 r1 r2 shared', 'red']);
  followed.delete('red', 'shared');
  assert.deepEqual(followed.state(), ['g1 g2 g3 r1 r2 shared', 'red']);
  followed.delete('blue', 'shared');
  assert.deepEqual(followed.state(), ['g1 g2 g3 r1 r2', 'red']);
});

test('control planes with the same definitions do not keep them from others together', () => {
  const followed = new Followed();
  for (const cluster of ['red', 'blue']) followed.put(cluster, 'a', 'b', 'c', 'd', 'e', 'f');
  followed.put('green', 'g1');
  assert.ok(followed.plurals.has('g1'));
  assert.deepEqual(followed.plurals.size, 6);
});

test('resources of the management plane never make room, and always get it', () => {
  const followed = new Followed();
  followed.put('root', 'p1', 'p2', 'p3');
  followed.put('red', 'r1', 'r2', 'r3');
  followed.put('blue', 'b1');
  assert.deepEqual(followed.state(), ['b1 p1 p2 p3 r1 r2', 'red']);
  followed.put('root', 'p4', 'p5', 'p6');
  assert.deepEqual(followed.state(), ['p1 p2 p3 p4 p5 p6', 'blue red']);
  followed.put('root', 'p7');
  assert.deepEqual(followed.state(), ['p1 p2 p3 p4 p5 p6', 'blue red root']);
});

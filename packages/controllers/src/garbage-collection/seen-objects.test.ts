import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, uuid } from '@hangar/core';
import { SeenObjects } from './seen-objects.ts';
import type { SeenObject } from './seen-objects.ts';

const random = seededRandom(7);
const object = (more: Partial<SeenObject> = {}): SeenObject => ({
  cluster: 'red',
  namespace: 'default',
  name: 'a',
  uid: uuid(random),
  ...more,
});

test('what was seen is known, and nothing else, among a hundred thousand', () => {
  const seen = new SeenObjects();
  const all = Array.from({ length: 100_000 }, (_, at) => object({ name: `n${at % 1_000}` }));
  for (const one of all) seen.add(one);
  assert.equal(seen.size, all.length);
  assert.ok(all.every((one) => seen.has(one)));
  for (const one of all) seen.add(one);
  assert.equal(seen.size, all.length, 'twice is once');
  for (let at = 0; at < 100_000; at++) assert.ok(!seen.has(object()));
});

test('what has gone since is not known any more, and nothing else is forgotten', () => {
  const seen = new SeenObjects();
  const all = Array.from({ length: 1_000 }, () => object());
  for (const one of all) seen.add(one);
  for (const one of all.slice(0, 500)) seen.remove(one);
  seen.remove(object());
  assert.deepEqual(
    all.map((one) => seen.has(one)),
    all.map((_, at) => at >= 500),
  );
});

test('the same uid elsewhere is something else', () => {
  const seen = new SeenObjects();
  const one = object({ uid: 'not even a uuid' });
  seen.add(one);
  for (const more of [{ cluster: 'blue' }, { namespace: '' }, { name: 'b' }, { namespace: 'defaulta', name: '' }]) {
    assert.ok(!seen.has({ ...one, ...more }), JSON.stringify(more));
  }
});

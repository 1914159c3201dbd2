import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject } from '@hangar/client';
import {
  and,
  annotationsChanged,
  generationChanged,
  inNamespace,
  labelled,
  labelsChanged,
  named,
  not,
  or,
  resourceVersionChanged,
} from './predicate.ts';
import type { Predicate } from './predicate.ts';

const object = (metadata: ApiObject['metadata']): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });

describe('an update', () => {
  const cases: [
    what: string,
    one: Predicate,
    before: ApiObject['metadata'],
    after: ApiObject['metadata'],
    isWanted: boolean,
  ][] = [
    ['of the spec', generationChanged, { generation: 1 }, { generation: 2 }, true],
    ['of the status', generationChanged, { generation: 1 }, { generation: 1 }, false],
    ['of a kind without generation', generationChanged, { name: 'a' }, { name: 'a' }, true],
    ['that is news', resourceVersionChanged, { resourceVersion: '1' }, { resourceVersion: '2' }, true],
    ['that is none', resourceVersionChanged, { resourceVersion: '1' }, { resourceVersion: '1' }, false],
    ['that adds a label', labelsChanged, {}, { labels: { a: '1' } }, true],
    ['that removes a label', labelsChanged, { labels: { a: '1', b: '2' } }, { labels: { a: '1' } }, true],
    ['that changes a label', labelsChanged, { labels: { a: '1' } }, { labels: { a: '2' } }, true],
    ['that renames a label', labelsChanged, { labels: { a: '1' } }, { labels: { b: '1' } }, true],
    ['of annotations only', labelsChanged, { annotations: { a: '1' } }, { annotations: { a: '2' } }, false],
    ['of annotations', annotationsChanged, { annotations: { a: '1' } }, { annotations: { a: '2' } }, true],
    ['of equal annotations', annotationsChanged, { annotations: { a: '1' } }, { annotations: { a: '1' } }, false],
    ['into what is wanted', labelled({ a: '1' }), {}, { labels: { a: '1' } }, true],
    ['out of what is wanted', labelled({ a: '1' }), { labels: { a: '1' } }, {}, true],
    ['of what is not wanted', labelled({ a: '1' }), { labels: { a: '2' } }, { labels: { a: '3' } }, false],
  ];
  for (const [what, one, before, after, isWanted] of cases) {
    test(`${what} is ${isWanted ? '' : 'not '}wanted`, () => {
      assert.equal(one.update!(object(before), object(after)), isWanted);
      assert.equal(not(one).update!(object(before), object(after)), !isWanted);
    });
  }
});

test('names, namespaces and labels decide about every event', () => {
  const a = object({ namespace: 'n', name: 'a', labels: { tier: 'x' } });
  for (const event of ['create', 'delete', 'generic'] as const) {
    assert.equal(named('a', 'b')[event]!(a, false), true);
    assert.equal(named('b')[event]!(a, false), false);
    assert.equal(inNamespace('n')[event]!(a, false), true);
    assert.equal(inNamespace('m')[event]!(a, false), false);
    assert.equal(labelled({ tier: undefined })[event]!(a, false), true);
    assert.equal(labelled({ tier: 'y' })[event]!(a, false), false);
    assert.equal(labelled({ toString: undefined })[event]!(object({ labels: {} }), false), false);
  }
});

test('and, or and not take a function that is absent for true', () => {
  const a = object({ name: 'a' });
  assert.equal(and(named('a'), generationChanged).create!(a, false), true);
  assert.equal(and(named('b'), generationChanged).create!(a, false), false);
  assert.equal(or(named('b'), generationChanged).create!(a, false), true);
  assert.equal(or(named('b'), named('c')).create!(a, false), false);
  assert.equal(not(generationChanged).create!(a, false), false);
  assert.equal(not(named('b')).delete!(a), true);
  const updates = or(generationChanged, labelsChanged);
  assert.equal(updates.update!(object({ generation: 1 }), object({ generation: 1, labels: { a: '1' } })), true);
  assert.equal(updates.update!(object({ generation: 1 }), object({ generation: 1 })), false);
});

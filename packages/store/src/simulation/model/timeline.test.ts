import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Entry, Revision, Write } from '../../contract.ts';
import { everything } from '../../keys.ts';
import { difference, Timeline } from './timeline.ts';

const at = (revision: number) => revision as Revision;
const put = (key: string, text: string): Write => ({ type: 'put', key, value: Buffer.from(text) });

function commit(timeline: Timeline, revision: number, ...writes: Write[]): void {
  timeline.apply(at(revision), timeline.effect(writes, at(revision)));
}

test('every state that ever was can be asked for', () => {
  const timeline = new Timeline([]);
  commit(timeline, 3, put('a', 'one'), put('b', 'one'));
  commit(timeline, 7, { type: 'delete', key: 'a' });
  commit(timeline, 9, put('a', 'two'), put('b', 'two'));
  const state = (revision: number) =>
    timeline.range(everything, revision).map(({ key, createRevision, version, value }) => {
      return [key, createRevision, version, Buffer.from(value).toString()];
    });
  assert.deepEqual(state(2), []);
  assert.deepEqual(state(8), [['b', 3, 1, 'one']]);
  assert.deepEqual(state(9), [
    ['a', 9, 1, 'two'],
    ['b', 3, 2, 'two'],
  ]);
});

test('a condition that does not hold is named with what stands there', () => {
  const timeline = new Timeline([]);
  commit(timeline, 3, put('a', 'one'));
  const writes: Write[] = [
    { type: 'check', key: 'a', expected: at(2) },
    { type: 'check', key: 'b', expected: at(0) },
  ];
  assert.deepEqual(
    timeline.conflicts(writes, Infinity).map(({ key, entry }) => [key, entry?.modRevision]),
    [['a', 3]],
  );
  assert.deepEqual(
    timeline.conflicts(writes, 2).map(({ key, entry }) => [key, entry?.modRevision]),
    [['a', undefined]],
  );
});

test('a base entry is there from the start, and its first change begins an entry of its own', () => {
  const base: Entry = {
    key: 'a',
    value: Buffer.from('base'),
    createRevision: at(1),
    modRevision: at(1),
    version: 1,
    lease: undefined,
  };
  const timeline = new Timeline([base]);
  assert.equal(timeline.now('a'), base);
  commit(timeline, 5, put('a', 'own'));
  assert.equal(timeline.now('a')?.createRevision, 5);
  assert.equal(timeline.now('a')?.version, 1);
  assert.equal(timeline.changesAt(at(5))?.[0]?.previous, base);
});

test('a deletion of nothing changes nothing', () => {
  const timeline = new Timeline([]);
  assert.deepEqual(
    timeline.effect(
      [
        { type: 'delete', key: 'a' },
        { type: 'deleteRange', range: everything },
      ],
      at(2),
    ),
    [],
  );
});

test('entries differ when anything about them does', () => {
  const entry = {
    key: 'a',
    value: Buffer.from('x'),
    createRevision: at(1),
    modRevision: at(2),
    version: 2,
    lease: undefined,
  };
  assert.equal(difference(entry, { ...entry, value: Buffer.from('x') }), undefined);
  assert.equal(difference(undefined, undefined), undefined);
  for (const change of [
    { value: Buffer.from('y') },
    { version: 3 },
    { createRevision: at(2) },
    { lease: 'l' as never },
  ]) {
    assert.match(difference(entry, { ...entry, ...change })!, /instead of/);
  }
  assert.match(difference(entry, undefined)!, /instead of nothing/);
});

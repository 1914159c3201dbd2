import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Revision } from '../contract.ts';
import { RecentEntries } from './recent-entries.ts';

const at = (revision: number): Revision => revision as Revision;

const entry = (key: string, revision: number, length = 1): Entry => ({
  key,
  value: new Uint8Array(length),
  createRevision: at(1),
  modRevision: at(revision),
  version: 1,
  lease: undefined,
});

test('what was published is answered, as the last commit left it', () => {
  const recent = new RecentEntries(10_000, at(1));
  recent.changed('a', entry('a', 2), at(2));
  recent.published(at(2));
  recent.changed('a', entry('a', 3), at(3));
  recent.published(at(3));
  assert.equal(recent.get('a')?.modRevision, 3);
  recent.changed('a', undefined, at(4));
  recent.published(at(4));
  assert.equal(recent.get('a'), undefined);
});

test('nothing is answered while a read has seen more than was published', () => {
  const recent = new RecentEntries(10_000, at(1));
  recent.changed('a', entry('a', 2), at(2));
  recent.published(at(2));
  recent.saw(at(3), entry('b', 3));
  assert.equal(recent.get('a'), undefined);
  assert.equal(recent.get('b'), undefined);
  assert.equal(recent.revision, 3);
  recent.published(at(3));
  assert.equal(recent.get('a')?.modRevision, 2);
});

test('a commit that is published late does not replace what a read found after it', () => {
  const recent = new RecentEntries(10_000, at(1));
  recent.saw(at(4), entry('a', 4));
  recent.changed('a', entry('a', 3), at(3));
  recent.published(at(3));
  recent.changed('a', undefined, at(3));
  recent.changed('a', entry('a', 4), at(4));
  recent.published(at(4));
  assert.equal(recent.get('a')?.modRevision, 4);
});

test('what was not used lately goes first, and what is too large is never kept', () => {
  const recent = new RecentEntries(2_000, at(1));
  recent.saw(at(1), entry('used', 1));
  for (let i = 0; i < 20; i++) {
    assert.ok(recent.get('used'));
    recent.saw(at(1), entry(`other-${i}`, 1));
  }
  assert.equal(recent.get('other-0'), undefined);
  assert.ok(recent.get('other-19'));
  recent.saw(at(1), entry('used', 1, 5_000));
  assert.equal(recent.get('used'), undefined);
});

test('an entry does not keep the memory that its value was cut out of', () => {
  const recent = new RecentEntries(100_000, at(1));
  const shared = new Uint8Array(8_192);
  recent.saw(at(1), { ...entry('a', 1), value: shared.subarray(0, 100) });
  assert.equal(recent.get('a')?.value.buffer.byteLength, 100);
});

test('entries of a deleted range are not returned, and are removed in slices; later ones stay', () => {
  const recent = new RecentEntries(10_000_000, at(1));
  for (let n = 0; n < 1_000; n++) recent.changed(`/a/${n}`, entry(`/a/${n}`, 2), at(2));
  recent.changed('/b', entry('/b', 2), at(2));
  recent.published(at(2));
  // A read was faster than the publication, and saw a later commit.
  recent.saw(at(4), entry('/a/7', 4));
  const slices = recent.rangeDeleted({ start: '/a/', end: '/a0' }, at(3));
  recent.published(at(4));
  const check = (): void => {
    assert.equal(recent.get('/a/5'), undefined);
    assert.equal(recent.get('/a/7')?.modRevision, 4);
    assert.equal(recent.get('/b')?.modRevision, 2);
  };
  check();
  recent.changed('/a/8', entry('/a/8', 5), at(5));
  recent.published(at(5));
  assert.equal([...slices].length, 4);
  check();
  assert.equal(recent.get('/a/8')?.modRevision, 5);
});

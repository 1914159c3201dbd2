/** Limits: requests that are refused, their error codes, and the largest requests that are accepted. */

import assert from 'node:assert/strict';
import type { LeaseId, Revision, Write } from '../contract.ts';
import { keyBytesMax, successor } from '../keys.ts';
import { leaseTtlMaxMs, transactionWritesMax, valueBytesMax } from '../limits.ts';
import type { Scenario } from './harness.ts';
import { refusal } from './subject.ts';

const malformed = {
  'a NUL': 'a\u0000b',
  'a line feed': 'a\nb',
  'a tab': 'a\tb',
  'the last control character': 'a\u001f',
  'a DEL': 'a\u007fb',
  'a high surrogate alone': 'a\ud800',
  'a low surrogate alone': '\udc00a',
  'surrogates in the wrong order': 'a\udc00\ud800',
};

export function limits(scenario: Scenario): void {
  scenario('malformed keys are refused wherever a key is named', async ({ store, prefix }) => {
    const keys = {
      ...Object.fromEntries(Object.entries(malformed).map(([why, name]) => [why, prefix + name])),
      nothing: '',
    };
    for (const [why, key] of Object.entries(keys)) {
      const value = new Uint8Array(1);
      const expected = 0 as Revision;
      const actions: Record<string, () => unknown> = {
        get: () => store.get(key),
        put: () => store.commit([{ type: 'put', key, value }]),
        delete: () => store.commit([{ type: 'delete', key }]),
        check: () => store.commit([{ type: 'check', key, expected }]),
        'a second write': () =>
          store.commit([
            { type: 'put', key: `${prefix}fine`, value },
            { type: 'delete', key },
          ]),
      };
      for (const [what, action] of Object.entries(actions)) {
        assert.equal(await refusal(action), 'InvalidKey', `${what} with ${why}`);
      }
      if (key !== '') assert.equal(await refusal(() => store.watch({ prefix: key }).next()), 'InvalidKey', why);
    }
    assert.equal((await store.get(`${prefix}fine`)).entry, undefined, 'a refused transaction left something');
  });

  scenario('bounds with ill-formed Unicode are refused', async ({ store, prefix }) => {
    for (const bound of [`${prefix}\ud800`, `${prefix}\udc00a`]) {
      for (const range of [{ start: bound }, { start: prefix, end: bound }]) {
        assert.equal(await refusal(() => store.range(range)), 'InvalidKey');
        assert.equal(await refusal(() => store.statistics(range)), 'InvalidKey');
        assert.equal(await refusal(() => store.commit([{ type: 'deleteRange', range }])), 'InvalidKey');
      }
    }
  });

  scenario('a key may be as long as the limit and no longer, counted in bytes', async (subject) => {
    const room = keyBytesMax - Buffer.byteLength(subject.prefix);
    const longest = ['x'.repeat(room), `${'ж'.repeat(Math.floor(room / 2))}${room % 2 ? 'x' : ''}`];
    for (const name of longest) {
      assert.equal(Buffer.byteLength(subject.key(name)), keyBytesMax);
      await subject.put(name, 'fits');
      assert.equal(await subject.text(name), 'fits');
      assert.equal(await refusal(() => subject.put(`${name}x`, 'too long')), 'InvalidKey');
      assert.equal(await refusal(() => subject.text(`${name}x`)), 'InvalidKey');
      // Bounds behind the longest key: the start of the next page after it, and the end of its prefix.
      const after = await subject.store.range({ ...subject.below(), start: successor(subject.key(name)) });
      assert.ok(!after.entries.some((entry) => entry.key === subject.key(name)));
      assert.equal((await subject.store.range(subject.below(name))).entries.length, 1);
    }
  });

  scenario('a value a little below the limit is stored whole, one over it is refused', async (subject) => {
    const value = Buffer.alloc(valueBytesMax - 2048, 'abcdefg');
    const watch = subject.watch();
    const { revision } = await subject.commit({ type: 'put', key: subject.key('large'), value });
    const { entry } = await subject.store.get(subject.key('large'));
    assert.ok(value.equals(entry!.value));
    const batch = await watch.next();
    assert.equal(batch?.revision, revision);
    const event = batch.events[0]!;
    assert.ok(event.type === 'put' && value.equals(event.entry.value));
    const tooLarge = new Uint8Array(valueBytesMax + 1);
    const put: Write = { type: 'put', key: subject.key('larger'), value: tooLarge };
    assert.equal(await refusal(() => subject.store.commit([put])), 'ValueTooLarge');
    assert.equal(await subject.text('larger'), undefined);
  });

  scenario('large values together over the limit are refused as one', async (subject) => {
    const half: Uint8Array = new Uint8Array(valueBytesMax / 2);
    const puts = ['a', 'b', 'c'].map((name): Write => ({ type: 'put', key: subject.key(name), value: half }));
    assert.equal(await refusal(() => subject.store.commit(puts)), 'ValueTooLarge');
    assert.deepEqual(await subject.list({ keysOnly: true }), []);
  });

  scenario('a list of large values arrives whole', async (subject) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) {
      const value = Buffer.alloc(1_000_000, name);
      await subject.commit({ type: 'put', key: subject.key(name), value });
    }
    const { entries } = await subject.store.range(subject.below());
    assert.deepEqual(
      entries.map((entry) => [subject.name(entry.key), entry.value.length, entry.value.at(-1)]),
      names.map((name) => [name, 1_000_000, name.charCodeAt(0)]),
    );
    const { bytes } = await subject.store.statistics(subject.below());
    assert.equal(bytes, names.length * (1_000_000 + Buffer.byteLength(subject.key('a'))));
  });

  scenario('128 writes are one transaction, 129 are refused', async (subject) => {
    const conditions = subject.conditionsMax ?? transactionWritesMax;
    const writes = Array.from({ length: transactionWritesMax + 1 }, (_, at) =>
      subject.write(`k${at}`, String(at), at > transactionWritesMax - conditions ? { expected: 0 as Revision } : {}),
    );
    assert.equal(await refusal(() => subject.store.commit(writes)), 'InvalidRequest');
    assert.deepEqual(await subject.list(), []);
    const { revision } = await subject.commit(...writes.slice(1));
    const { entries } = await subject.store.range(subject.below());
    assert.equal(entries.length, transactionWritesMax);
    assert.ok(entries.every((entry) => entry.modRevision === revision));
    const again = await subject.store.commit(writes.slice(1));
    assert.equal(!again.committed && again.conflicts.length, conditions);
  });

  scenario('conditions alone are counted apart from writes', async (subject) => {
    const puts = Array.from({ length: transactionWritesMax }, (_, at) => subject.write(`k${at}`, String(at)));
    const checks = Array.from({ length: subject.conditionsMax ?? transactionWritesMax }, (_, at): Write => ({
      type: 'check',
      key: subject.key(`c${at}`),
      expected: 0 as Revision,
    }));
    await subject.commit(...puts, ...checks);
    assert.equal((await subject.list({ keysOnly: true })).length, transactionWritesMax);
  });

  scenario('an empty transaction is refused', async ({ store }) => {
    assert.equal(await refusal(() => store.commit([])), 'InvalidRequest');
  });

  scenario('a value that is not bytes is refused', async (subject) => {
    for (const value of ['text', [1, 2], undefined, null] as unknown[] as Uint8Array[]) {
      const put: Write = { type: 'put', key: subject.key('a'), value };
      assert.equal(await refusal(() => subject.store.commit([put])), 'InvalidRequest');
    }
    assert.deepEqual(await subject.list(), []);
  });

  scenario('limits and revisions that are not whole numbers are refused', async (subject) => {
    const { store } = subject;
    for (const number of [-1, 1.5, NaN, Infinity, 2 ** 60]) {
      const revision = number as Revision;
      const actions: Record<string, () => unknown> = {
        limit: () => store.range(subject.below(), { limit: number }),
        'get at': () => store.get(subject.key('a'), { atRevision: revision }),
        'range at': () => store.range(subject.below(), { atRevision: revision }),
        'statistics at': () => store.statistics(subject.below(), { atRevision: revision }),
        expected: () => store.commit([subject.write('a', '1', { expected: revision })]),
        'watch from': () => store.watch({ prefix: subject.prefix, fromRevision: revision }).next(),
        compact: () => store.compact(revision),
      };
      for (const [what, action] of Object.entries(actions)) {
        assert.equal(await refusal(action), 'InvalidRequest', `${what} ${number}`);
      }
    }
  });

  scenario(
    'a lease shorter than a second, longer than the limit or of no time at all is refused',
    async ({ store }) => {
      for (const ttlMs of [0, -1, 999, NaN, Infinity, leaseTtlMaxMs + 1]) {
        assert.equal(await refusal(() => store.grantLease(ttlMs)), 'InvalidRequest', String(ttlMs));
      }
    },
  );

  scenario('a lease that never was is not found', async (subject) => {
    for (const id of ['feedfeedfeed', '123456', 'not a lease', ''] as LeaseId[]) {
      assert.equal(await refusal(() => subject.put('a', '1', { lease: id })), 'LeaseNotFound', id);
      assert.equal(await refusal(() => subject.store.renewLease(id)), 'LeaseNotFound', id);
      assert.equal(await refusal(() => subject.store.leaseTtlMs(id)), 'LeaseNotFound', id);
      assert.equal(await refusal(() => subject.store.revokeLease(id)), 'LeaseNotFound', id);
    }
    assert.deepEqual(await subject.list(), []);
  });
}

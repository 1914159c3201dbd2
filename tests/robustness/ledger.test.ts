/** A checker that finds nothing proves nothing: each kind of loss is planted here and must be found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ledger } from './ledger.ts';
import type { StoredEntry } from './ledger.ts';
import { fingerprint, valueOf } from './plan.ts';
import type { Plan } from './plan.ts';

const put = (id: string, ...keys: string[]): Plan => ({
  id,
  writes: keys.map((key) => ({ type: 'put', key, size: 50 })),
  witness: keys[0]!,
});

const stored = (id: string, place: number, entry: Partial<StoredEntry> & { modified: number }): StoredEntry => ({
  created: entry.modified,
  version: 1,
  value: fingerprint(valueOf(id, place, 50)),
  ...entry,
});

const state = (revision: number, entries: Record<string, StoredEntry>) => ({
  revision,
  entries: new Map(Object.entries(entries)),
});

function ledgerOf(...acknowledged: [plan: Plan, revision: number, deleted?: number][]): Ledger {
  const ledger = new Ledger();
  for (const [plan, revision, deleted = 0] of acknowledged) {
    ledger.intend(plan);
    ledger.acknowledge(plan.id, revision, deleted);
  }
  return ledger;
}

test('a store that kept everything is in order', () => {
  const ledger = ledgerOf([put('1', 'a', 'b'), 2], [put('2', 'b'), 4]);
  ledger.compare(
    state(4, {
      a: stored('1', 0, { modified: 2 }),
      b: stored('2', 0, { modified: 4, created: 2, version: 2 }),
    }),
  );
  assert.deepEqual(ledger.violations, []);
});

test('an acknowledged write that is gone, older or altered is missing', () => {
  const altered = fingerprint(Buffer.from('other'));
  for (const entries of [
    {},
    { a: stored('1', 0, { modified: 2 }) },
    { a: stored('2', 0, { modified: 3, value: altered }) },
  ]) {
    const ledger = ledgerOf([put('1', 'a'), 2], [put('2', 'a'), 3]);
    ledger.compare(state(3, entries));
    assert.equal(ledger.counts.missing, 1, JSON.stringify(entries));
  }
});

test('a store that fell behind what it acknowledged, or behind itself, is found', () => {
  const ledger = ledgerOf([put('1', 'a'), 5]);
  ledger.compare(state(5, { a: stored('1', 0, { modified: 5 }) }));
  ledger.compare(state(4, { a: stored('1', 0, { modified: 5 }) }));
  assert.match(ledger.violations.join(), /fell from 5 to 4/);
});

test('what nobody intended is invented', () => {
  const ledger = ledgerOf();
  ledger.compare(state(2, { a: stored('?', 0, { modified: 2 }) }));
  assert.equal(ledger.counts.invented, 1);
});

test('a refused write that is there is invented', () => {
  const ledger = new Ledger();
  ledger.intend(put('1', 'a'));
  ledger.refuse('1');
  ledger.compare(state(2, { a: stored('1', 0, { modified: 2 }) }));
  assert.equal(ledger.counts.invented, 1);
});

test('a revision that is given twice is found', () => {
  const twice = ledgerOf([put('1', 'a'), 5], [put('2', 'b'), 5]);
  assert.equal(twice.counts.invented, 1);
  const again = ledgerOf([put('1', 'a'), 5]);
  again.compare(state(5, { a: stored('1', 0, { modified: 5 }) }));
  again.intend(put('2', 'b'));
  again.acknowledge('2', 5, 0);
  assert.equal(again.counts.invented, 1);
});

test('an unknown transaction may be there whole or not at all', () => {
  const whole = { a: stored('1', 0, { modified: 3 }), b: stored('1', 1, { modified: 3 }) };
  for (const [entries, violations] of [
    [{}, 0],
    [whole, 0],
    [{ a: whole.a }, 1],
    [{ b: whole.b }, 1],
    [{ ...whole, b: stored('1', 1, { modified: 4 }) }, 1],
  ] as const) {
    const ledger = new Ledger();
    ledger.intend(put('1', 'a', 'b'));
    ledger.leaveAllOpen();
    ledger.compare(state(4, entries));
    assert.equal(ledger.violations.length, violations, JSON.stringify(entries));
  }
});

test('an unknown deletion may have happened, an acknowledged one must have', () => {
  const a = stored('1', 0, { modified: 2 });
  const remove: Plan = { id: '2', writes: [{ type: 'delete', key: 'a', expected: 2 }], witness: 'a' };
  for (const [known, entries, violations] of [
    [true, {}, 0],
    [true, { a }, 1],
    [false, {}, 0],
    [false, { a }, 0],
  ] as const) {
    const ledger = ledgerOf([put('1', 'a'), 2]);
    ledger.intend(remove);
    if (known) ledger.acknowledge('2', 3, 1);
    else ledger.leaveAllOpen();
    ledger.compare(state(3, entries));
    assert.equal(ledger.violations.length, violations, `${known} ${JSON.stringify(entries)}`);
  }
});

test('a condition that did not hold, and a wrong number of deletions, are found', () => {
  const conditional: Plan = { id: '2', writes: [{ type: 'put', key: 'a', size: 50, expected: 9 }], witness: 'a' };
  const unheld = ledgerOf([put('1', 'a'), 2], [conditional, 3]);
  unheld.compare(state(3, { a: stored('2', 0, { modified: 3, created: 2, version: 2 }) }));
  assert.match(unheld.violations.join(), /expected a at 9/);
  const range: Plan = { id: '2', writes: [{ type: 'deleteRange', start: 'a', end: 'c' }], witness: 'a' };
  const miscounted = ledgerOf([put('1', 'a', 'b', 'c'), 2], [range, 5, 3]);
  miscounted.compare(state(5, { c: stored('1', 2, { modified: 2 }) }));
  assert.match(miscounted.violations.join(), /deleted 3 keys, there were 2/);
});

test('a request that is still on its way may arrive later, but not before what was seen', () => {
  for (const [revision, violations] of [
    [6, 0],
    [4, 1],
  ] as const) {
    const ledger = new Ledger();
    ledger.intend(put('1', 'a'));
    ledger.leaveAllOpen();
    ledger.compare(state(5, {}), { mayBeLate: true });
    ledger.compare(state(7, { a: stored('1', 0, { modified: revision }) }));
    assert.equal(ledger.violations.length, violations);
  }
});

test('an unknown deletion need not have happened when another one explains that the key is gone', () => {
  const ledger = ledgerOf([put('1', 'a'), 2]);
  ledger.intend({ id: '2', writes: [{ type: 'delete', key: 'a', expected: 2 }], witness: 'a' });
  ledger.leaveAllOpen();
  ledger.compare(state(2, { a: stored('1', 0, { modified: 2 }) }), { mayBeLate: true });
  ledger.intend({ id: '3', writes: [{ type: 'deleteRange', start: 'a', end: 'b' }], witness: 'a' });
  ledger.acknowledge('3', 3, 1);
  ledger.compare(state(3, {}));
  assert.deepEqual(ledger.violations, []);
});

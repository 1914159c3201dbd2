import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TenantQueue } from './tenant-queue.ts';
import type { Waiting } from './tenant-queue.ts';
import { level, place } from './testing/clients.ts';

const waiting = (at: Waiting['place'], isMutating = false, sinceMs = 0): Waiting => ({
  place: at,
  isMutating,
  sinceMs,
  isGone: false,
  go: () => {},
  refuse: () => {},
});
const anybody = () => true;
const onlyReads = (one: Waiting) => !one.isMutating;

describe('who is next', () => {
  test('changes nothing by being asked', () => {
    const tenant = new TenantQueue('a');
    const all = ['x', 'y', 'z'].map((flow) => waiting(place(level('one'), flow)));
    for (const one of all) tenant.push(one);
    const first = tenant.next(anybody);
    for (let n = 0; n < 5; n++) assert.equal(tenant.next(anybody), first);
    assert.equal(
      tenant.next(() => false),
      undefined,
    );
    assert.equal(tenant.waiting, 3);
    assert.equal(tenant.take(first!), all[0]);
    assert.equal(tenant.waiting, 2);
  });

  test('is found in whichever level somebody can go, also between levels in which nobody can', () => {
    const levels = ['one', 'two', 'three', 'four', 'five'].map((name) => level(name));
    for (const able of levels) {
      const tenant = new TenantQueue('a');
      const read = waiting(place(able));
      for (const one of levels) tenant.push(one === able ? read : waiting(place(one), true));
      assert.equal(tenant.next(onlyReads)?.head, read, able.name);
    }
  });

  test('is nobody of a level that has no seat', () => {
    const tenant = new TenantQueue('a');
    tenant.use(
      new Map([
        ['full', { nominal: 1, lendable: 0 }],
        ['free', { nominal: 1, lendable: 0 }],
      ]),
    );
    const [full, free] = [level('full'), level('free')];
    tenant.level(full).seats = 1;
    tenant.push(waiting(place(full)));
    assert.equal(tenant.next(anybody), undefined);
    const other = waiting(place(free));
    tenant.push(other);
    assert.equal(tenant.next(anybody)?.head, other);
  });
});

describe('who is gone', () => {
  test('is passed over, and counts no more', () => {
    const tenant = new TenantQueue('a');
    const [first, second] = [waiting(place(level('one'))), waiting(place(level('one')))];
    tenant.push(first);
    tenant.push(second);
    tenant.drop(first);
    tenant.drop(first);
    assert.equal(tenant.waiting, 1);
    assert.equal(tenant.take(tenant.next(anybody)!), second);
    assert.equal(tenant.waiting, 0);
    assert.equal(tenant.next(anybody), undefined);
  });

  test('is not kept behind one that waits long', () => {
    const tenant = new TenantQueue('a');
    const stays = waiting(place(level('one')), true);
    tenant.push(stays);
    for (let n = 0; n < 10_000; n++) {
      const one = waiting(place(level('one')));
      tenant.push(one);
      tenant.drop(one);
    }
    const flow = tenant.next(anybody)!;
    assert.ok(flow.kept < 100, `${flow.kept}`);
    assert.equal(tenant.take(flow), stays);
  });
});

test('those who came before a time are given back, oldest first in each flow, and the rest stays', () => {
  const tenant = new TenantQueue('a');
  for (let ms = 0; ms < 10; ms++) tenant.push(waiting(place(level('one'), ms % 2 === 0 ? 'even' : 'odd'), false, ms));
  const old = tenant.takeOlder(4).map(({ sinceMs }) => sinceMs);
  assert.deepEqual(old, [0, 2, 1, 3]);
  assert.equal(tenant.waiting, 6);
});

test('what a level says counts as soon as it is said, also while it is busy', () => {
  const tenant = new TenantQueue('a');
  const [one, two] = [level('one', { shares: 1 }), level('two', { shares: 1 })];
  tenant.push(waiting(place(one)));
  tenant.push(waiting(place(two)));
  assert.equal(tenant.level(one).weight, 1);
  assert.equal(tenant.level(level('one', { shares: 9 })).weight, 9);
});

describe('what a tenant was given', () => {
  const sliceMs = 0.25;
  const charged = (tenant: TenantQueue, givenMs: readonly number[]): number =>
    givenMs.reduce((sum, ms) => sum + tenant.owes(ms, sliceMs), 0);

  test('counts at once up to a slice, and what is more with what follows', () => {
    const tenant = new TenantQueue('a');
    assert.equal(charged(tenant, [0.2]), 0.2);
    assert.equal(charged(tenant, [10]), 0.25);
    assert.equal(Math.round(charged(tenant, [0.1]) * 1e6), 0.4 * 1e6);
    const rest = charged(tenant, Array(1_000).fill(0.1));
    assert.ok(Math.abs(rest - (100 + 9.75 - 0.3)) < 1e-6, `${rest}`);
    assert.equal(tenant.debtMs, 0);
  });

  test('counts in full where it is much again and again', () => {
    for (const given of [Array(300).fill(5), Array.from({ length: 300 }, (_, n) => (n % 3 === 0 ? 40 : 0.05))]) {
      const tenant = new TenantQueue('a');
      const all = given.reduce((sum: number, ms: number) => sum + ms, 0);
      const behind = all - charged(tenant, given);
      assert.ok(behind >= 0 && behind < 20.001, `${behind} of ${all}`);
    }
  });
});

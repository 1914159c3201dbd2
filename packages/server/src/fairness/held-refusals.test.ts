import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldRefusals } from './held-refusals.ts';
import { VirtualLoop } from './testing/virtual-loop.ts';

function world(max = 10_000) {
  const loop = new VirtualLoop();
  const held = new HeldRefusals(loop, max);
  const told: { readonly tenant: string; readonly ms: number }[] = [];
  const tenants = new Map<string, object>();
  const refuse = (tenant: string, count: number): void => {
    const one = tenants.get(tenant) ?? {};
    tenants.set(tenant, one);
    for (let n = 0; n < count; n++) held.hold(one, () => told.push({ tenant, ms: loop.monotonicMs() }));
  };
  const toldTo = (tenant: string): number => told.filter((one) => one.tenant === tenant).length;
  return { loop, held, told, refuse, toldTo };
}

test('one is told half a second later, and there is a timer only until then', async () => {
  const { loop, held, told, refuse } = world();
  assert.ok(loop.isIdle);
  refuse('a', 1);
  assert.deepEqual([held.size, loop.timers], [1, 1]);
  await loop.run(499);
  assert.equal(told.length, 0);
  await loop.run(20);
  assert.equal(told.length, 1);
  assert.equal(held.size, 0);
  assert.ok(loop.isIdle);
});

test('many of one tenant are told a few at a time: five in ten milliseconds', async () => {
  const { loop, held, told, refuse } = world();
  refuse('a', 1_000);
  await loop.run(500 + 1_000);
  assert.ok(told.length > 450 && told.length <= 505, `${told.length}`);
  await loop.run(2_000);
  assert.equal(told.length, 1_000);
  assert.equal(held.size, 0);
  assert.ok(loop.isIdle);
});

test('tenants take turns, however many each has', async () => {
  const { loop, refuse, toldTo } = world();
  for (let n = 0; n < 10; n++) refuse(`flood-${n}`, 400);
  refuse('quiet', 3);
  await loop.run(500 + 60);
  assert.equal(toldTo('quiet'), 3, 'three rounds of four tenants come to everybody');
  await loop.run(500);
  const counts = Array.from({ length: 10 }, (_, n) => toldTo(`flood-${n}`));
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 5, counts.join());
});

test('as many as fit are held, one tenant leaves room for the next, and those beyond are told at once', async () => {
  const { loop, held, refuse, toldTo } = world(100);
  refuse('a', 200);
  assert.equal(held.size, 50);
  assert.equal(toldTo('a'), 150);
  refuse('b', 20);
  assert.equal(toldTo('b'), 0);
  await loop.run(2_000);
  assert.equal(toldTo('a') + toldTo('b'), 220);
  assert.equal(held.size, 0);
});

test('they are told in the order in which they came, however many there were', async () => {
  const loop = new VirtualLoop();
  const held = new HeldRefusals(loop, 100_000);
  const told: number[] = [];
  const tenant = {};
  for (let n = 0; n < 3_000; n++) held.hold(tenant, () => told.push(n));
  await loop.run(7_000);
  assert.deepEqual(told, [...told.keys()]);
  assert.equal(told.length, 3_000);
});

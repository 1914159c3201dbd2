/** For random traffic: every request completes exactly once, and leaves no state behind. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FairQueue } from './fair-queue.ts';
import { TenantQueue } from './tenant-queue.ts';
import { Clients, ordinary } from './testing/clients.ts';
import { holdMaxMs, RandomTraffic } from './testing/random-traffic.ts';
import { VirtualLoop } from './testing/virtual-loop.ts';

const seeds = 30;

async function ended(seed: number, waitMaxMs: number): Promise<RandomTraffic> {
  const traffic = new RandomTraffic(seed, waitMaxMs);
  await traffic.run(300);
  await traffic.end();
  return traffic;
}

describe('random requests', () => {
  test('end exactly once, and leave neither a seat nor a timer nor anybody waiting', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= seeds; seed++) {
      const { sent, tenants, queue, loop } = await ended(seed, 3_000);
      const unended = sent.filter(({ ends }) => ends.length !== 1);
      assert.equal(unended.length, 0, `seed ${seed}: ${unended.length} of ${sent.length}`);
      for (const { ends } of sent) seen.add(ends[0]!);
      assert.ok(loop.isIdle, `seed ${seed}: something is still asked for`);
      assert.equal(queue.waiting, 0, `seed ${seed}`);
      for (const { name, seats, mutatingSeats, waiting } of tenants) {
        assert.deepEqual(
          { seats, mutatingSeats, waiting },
          { seats: 0, mutatingSeats: 0, waiting: 0 },
          `${seed} ${name}`,
        );
      }
      for (const [, left] of queue.text().matchAll(/^apiserver_flowcontrol_current_inqueue_requests\{.*\} (.*)$/gm)) {
        assert.equal(left, '0', `seed ${seed}`);
      }
    }
    assert.deepEqual([...seen].sort(), ['answered', 'given up', 'refused']);
  });

  test('are let go in the end where nobody is refused for his waiting', async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { sent, queue } = await ended(seed + 1_000, Infinity);
      assert.equal(sent.filter(({ ends }) => ends.length !== 1).length, 0, `seed ${seed}`);
      assert.doesNotMatch(queue.text(), /reason="time-out"/);
    }
  });
});

describe('a tenant with a lower rank that has no seat', () => {
  for (const ranks of [
    [5, 1],
    [1, 5],
    [2, 2],
  ] as const) {
    test(`does not keep two others from going, nor does either take the other's turn: ${ranks.join()}`, async () => {
      const loop = new VirtualLoop();
      const queue = new FairQueue({ clock: loop, readOnlyMax: 4, mutatingMax: 4 });
      const [a, b, c] = ['a', 'b', 'c'].map((name) => new TenantQueue(name)) as [TenantQueue, TenantQueue, TenantQueue];
      const held = [queue.enter(a, true)!, queue.enter(a, true)!];
      for (const [n, tenant] of [b, c].entries()) {
        const ticket = queue.enter(tenant, false)!;
        queue.charge(ticket, ranks[n]!);
        queue.leave(ticket);
      }
      const gone: string[] = [];
      for (const [tenant, isMutating] of [
        [a, true],
        [b, false],
        [c, false],
      ] as const) {
        void queue
          .wait(tenant, { place: ordinary, isMutating, onGone: undefined })
          .then((ticket) => (gone.push(tenant.name), ticket));
      }
      await loop.run(50);
      assert.deepEqual(gone, ranks[0] > ranks[1] ? ['c', 'b'] : ['b', 'c']);
      for (const ticket of held) queue.leave(ticket);
      await loop.run(50);
      assert.deepEqual(gone.slice(2), ['a']);
      assert.equal(queue.waiting, 0);
    });
  }
});

test('who is behind one that gives up goes at once if it can', async () => {
  const loop = new VirtualLoop();
  const queue = new FairQueue({ clock: loop, readOnlyMax: 4, mutatingMax: 2 });
  const tenant = new TenantQueue('a');
  assert.ok(queue.enter(tenant, true));
  let giveUp: (() => void) | undefined;
  const onGone = (callback: () => void) => ((giveUp = callback), () => {});
  const write = queue.wait(tenant, { place: ordinary, isMutating: true, onGone });
  let hasRead = false;
  void queue.wait(tenant, { place: ordinary, isMutating: false, onGone: undefined }).then(() => (hasRead = true));
  await loop.run(10);
  assert.equal(hasRead, false);
  giveUp!();
  await assert.rejects(write);
  await loop.run(10);
  assert.equal(hasRead, true);
});

test('a tenant that asks for little waits no longer than somebody keeps his seat, whatever others send', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const traffic = new RandomTraffic(seed, 15_000);
    const quiet = new Clients(traffic, 'quiet');
    traffic.guests.push(quiet.tenant);
    quiet.every(150, { connections: 1, costMs: 0.05 });
    await traffic.run(800);
    assert.equal(quiet.refused, 0);
    assert.ok(quiet.answered > 5);
    const worst = Math.max(...quiet.latencies);
    assert.ok(worst < holdMaxMs, `seed ${seed}: ${worst}`);
  }
});

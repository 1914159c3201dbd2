import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Activity, currentActivity, hasCode, runActivity } from '@hangar/core';
import { FairQueue } from './fair-queue.ts';
import type { FairQueueOptions } from './fair-queue.ts';
import { TenantQueue } from './tenant-queue.ts';
import { Clients, level, ordinary, place } from './testing/clients.ts';
import { VirtualLoop } from './testing/virtual-loop.ts';

const sliceMs = 0.5;

function world(options: Partial<FairQueueOptions> = {}) {
  const loop = new VirtualLoop();
  return { loop, queue: new FairQueue({ clock: loop, sliceMs, ...options }) };
}

describe('beside other work of the process', () => {
  /** Work in slices, such as a scan: it gives way to the loop after each one. */
  const work = (loop: VirtualLoop, slice: number): void => {
    loop.spend(slice);
    loop.after(0, () => work(loop, slice));
  };

  test('requests that wait get half of the time', async () => {
    const one = world();
    for (let count = 0; count < 2; count++) work(one.loop, 4);
    const clients = new Clients(one, 'a');
    clients.flood({ connections: 64, costMs: 0.4 });
    await one.loop.run(1_000);
    assert.ok(clients.busyMs > 450, `${clients.busyMs}`);
  });

  test('a single request comes at most a turn after it was seen, whatever another tenant sends', async () => {
    const one = world();
    for (let count = 0; count < 2; count++) work(one.loop, 4);
    const [flood, quiet] = [new Clients(one, 'flood'), new Clients(one, 'quiet')];
    flood.flood({ connections: 100, costMs: 0.4 });
    quiet.every(30, { connections: 1, costMs: 0.05 });
    await one.loop.run(1_000);
    assert.ok(flood.busyMs > 450, `${flood.busyMs}`);
    const worst = Math.max(...quiet.latencies);
    assert.ok(worst < 20, `${worst}`);
  });
});

describe('between tenants', () => {
  for (const [what, few, many] of [
    ['one has 64 connections and the other 16', { connections: 16, costMs: 0.05 }, { connections: 64, costMs: 0.05 }],
    ['one has 2,000 connections', { connections: 16, costMs: 0.05 }, { connections: 2_000, costMs: 0.05 }],
    ['one sends what costs forty times as much', { connections: 16, costMs: 0.05 }, { connections: 16, costMs: 2 }],
  ] as const) {
    test(`both are given the same time when ${what}`, async () => {
      const one = world();
      const [a, b] = [new Clients(one, 'a'), new Clients(one, 'b')];
      a.flood(few);
      b.flood(many);
      await one.loop.run(400);
      const ratio = a.busyMs / b.busyMs;
      assert.ok(ratio > 0.9 && ratio < 1.1, `${a.busyMs} : ${b.busyMs}`);
      assert.ok(a.busyMs + b.busyMs > 390, 'the loop was never idle');
    });
  }

  test('a tenant of three is given what it asks for when that is less than a third, the others share the rest', async () => {
    const one = world();
    const [small, b, c] = [new Clients(one, 'small'), new Clients(one, 'b'), new Clients(one, 'c')];
    small.every(1, { connections: 1, costMs: 0.2 });
    b.flood({ connections: 64, costMs: 0.05 });
    c.flood({ connections: 8, costMs: 0.3 });
    await one.loop.run(400);
    assert.ok(small.busyMs > 78, `${small.busyMs}`);
    assert.ok(Math.abs(b.busyMs / c.busyMs - 1) < 0.1, `${b.busyMs} : ${c.busyMs}`);
  });

  test('a single request comes at most a slice, and one request, after it was seen, whatever others send', async () => {
    for (const costMs of [0.05, 0.4]) {
      const one = world();
      const [flood, quiet] = [new Clients(one, 'flood'), new Clients(one, 'quiet')];
      flood.flood({ connections: 1_000, costMs });
      await one.loop.run(50);
      quiet.every(7.3, { connections: 1, costMs: 0.05 });
      await one.loop.run(1_000);
      const worst = Math.max(...quiet.latencies);
      assert.ok(quiet.latencies.length > 100);
      // The request is handled in the next turn: a slice of waiting requests may have started just before.
      assert.ok(worst <= sliceMs + costMs + 0.05 + 1e-9, `${worst} with requests of ${costMs}`);
    }
  });

  test('a pause of the process is not held against whoever happened to be at work', async () => {
    const one = world();
    const [flood, quiet] = [new Clients(one, 'flood'), new Clients(one, 'quiet')];
    flood.flood({ connections: 64, costMs: 0.05 });
    let count = 0;
    quiet.every(5, { connections: 1, costMs: () => (++count % 100 === 0 ? 15 : 0.05) });
    await one.loop.run(1_600);
    assert.ok(count > 300);
    // Requests due during a pause are handled together after it.
    const worst = Math.max(...quiet.latencies.filter((ms) => ms < 15));
    assert.ok(worst <= 2 * sliceMs + 0.2, `${worst}`);
  });

  test('but whoever causes pauses now and then pays for them', async () => {
    const one = world();
    const [even, uneven] = [new Clients(one, 'even'), new Clients(one, 'uneven')];
    let count = 0;
    even.flood({ connections: 32, costMs: 0.05 });
    uneven.flood({ connections: 32, costMs: () => (++count % 20 === 0 ? 20 : 0.05) });
    await one.loop.run(2_000);
    const ratio = even.busyMs / uneven.busyMs;
    assert.ok(ratio > 0.9 && ratio < 1.1, `${even.busyMs} : ${uneven.busyMs}`);
  });

  test('who used more while nobody waited is not made to pay for it', async () => {
    const one = world();
    const [early, late] = [new Clients(one, 'early'), new Clients(one, 'late')];
    early.every(2, { connections: 1, costMs: 0.4 });
    await one.loop.run(2_000);
    early.stop();
    const earlier = early.busyMs;
    const again = new Clients(one, early.tenant);
    again.flood({ connections: 32, costMs: 0.05 });
    late.flood({ connections: 32, costMs: 0.05 });
    await one.loop.run(100);
    assert.ok(earlier > 300);
    assert.ok(again.busyMs / late.busyMs > 0.9, `${again.busyMs} : ${late.busyMs}`);
  });

  test('a tenant that blocks the loop waits for the same time, and other tenants continue', async () => {
    const one = world();
    const [taker, other] = [new Clients(one, 'taker'), new Clients(one, 'other')];
    one.queue.add(taker.tenant);
    const costMs = (): number => {
      one.loop.soon(() => one.queue.stalled('taker', 2_000));
      return 2_000;
    };
    taker.flood({ connections: 1, costMs });
    other.flood({ connections: 1, costMs: 0.5 });
    await one.loop.run(40_000);
    assert.ok(taker.busyMs <= 22_000, `${taker.busyMs}`);
    assert.ok(taker.answered >= 8, `${taker.answered}`);
    assert.ok(other.busyMs > 15_000, `${other.busyMs}`);
  });

  test('the management plane is not held', async () => {
    const one = world();
    const root = new Clients(one, new TenantQueue('root', true));
    one.queue.add(root.tenant);
    const costMs = (): number => {
      one.loop.soon(() => one.queue.stalled('root', 2_000));
      return 2_000;
    };
    root.flood({ connections: 1, costMs });
    await one.loop.run(20_000);
    assert.ok(root.busyMs > 19_000, `${root.busyMs}`);
  });

  test('time in which the process did not run is charged to none', () => {
    let cpuMs = 0;
    const { loop, queue } = world({ cpuMs: () => cpuMs });
    const tenant = new TenantQueue('a');
    const runFor = (ms: number, usedMs: number): void => {
      queue.arrives();
      queue.enter(tenant, false);
      loop.spend(ms);
      cpuMs += usedMs;
      queue.arrives();
    };
    runFor(60_000, 3);
    assert.equal(tenant.usedMs, 3);
    runFor(5_000, 4_000);
    assert.equal(tenant.usedMs, 4_003);
  });

  test('a tenant is not held for a long measurement alone: it may have been a pause for garbage', () => {
    const { loop, queue } = world();
    const tenant = new TenantQueue('a');
    queue.arrives();
    queue.enter(tenant, false);
    loop.spend(300);
    queue.arrives();
    assert.deepEqual([tenant.usedMs, tenant.heldUntilMs], [300, 0]);
  });

  test('the time before the user is known is charged to the tenant of the request, not to the one before it', () => {
    const { loop, queue } = world();
    const [a, b] = [new TenantQueue('a'), new TenantQueue('b')];
    queue.arrives();
    queue.runs(a);
    loop.spend(1);
    queue.arrives();
    loop.spend(5);
    queue.runs(b);
    loop.spend(2);
    queue.arrives();
    loop.spend(90);
    queue.arrives();
    assert.deepEqual([a.usedMs, b.usedMs], [1, 7]);
  });

  test('the time of a request that is refused before its user is known is charged to no tenant', () => {
    const { loop, queue } = world();
    const tenant = new TenantQueue('a');
    queue.arrives();
    loop.spend(90);
    queue.refusedUnknown();
    queue.runs(tenant);
    loop.spend(2);
    queue.arrives();
    assert.equal(tenant.usedMs, 2);
  });

  test('turns and timers belong to no activity, whichever request caused them', () => {
    const { loop, queue } = world();
    const seen: unknown[] = [];
    const { soon, after } = loop;
    loop.soon = (callback) => (seen.push(currentActivity()), soon.call(loop, callback));
    loop.after = (delayMs, callback) => (seen.push(currentActivity()), after.call(loop, delayMs, callback));
    runActivity(new Activity('GET', '/'), () => {
      queue.arrives();
      queue.wait(new TenantQueue('a'), { place: ordinary, isMutating: false, onGone: undefined }).catch(() => {});
    });
    assert.deepEqual(seen, [undefined, undefined, undefined]);
  });

  test('a stall that was seen from outside is charged once, to the tenant that caused it', () => {
    const { loop, queue } = world();
    const [a, b] = [new TenantQueue('a'), new TenantQueue('b')];
    for (const tenant of [a, b]) queue.add(tenant);
    const stall = (): void => {
      queue.arrives();
      queue.runs(b);
      loop.spend(1_000);
      queue.arrives();
    };
    stall();
    queue.stalled('b', 1_000);
    assert.equal(b.heldUntilMs, 2_000);
    const chargedOnce = b.rank;
    stall();
    assert.ok(b.rank >= chargedOnce + 900);
    queue.stalled('a', 1_000);
    assert.deepEqual([a.heldUntilMs, b.heldUntilMs], [3_000, 2_000]);
    assert.ok(b.rank < chargedOnce + 100, `${b.rank}`);
    queue.forget(a);
    queue.stalled('a', 1_000);
    assert.equal(a.heldUntilMs, 3_000);
  });

  test('what a request will cost later counts, too', async () => {
    const one = world();
    const [a, b] = [new Clients(one, 'a'), new Clients(one, 'b')];
    const leave = one.queue.leave.bind(one.queue);
    one.queue.leave = (ticket) => {
      if (ticket.tenant === a.tenant) one.queue.charge(ticket, 0.05);
      leave(ticket);
    };
    a.flood({ connections: 64, costMs: 0.05 });
    b.flood({ connections: 64, costMs: 0.05 });
    await one.loop.run(300);
    assert.ok(Math.abs(b.busyMs / a.busyMs - 2) < 0.2, `${a.busyMs} : ${b.busyMs}`);
  });
});

describe('within a tenant', () => {
  test('levels share by their shares, flows of a level evenly, and the exempt one goes first', async () => {
    const one = world();
    const tenant = new TenantQueue('a');
    const [big, small] = [level('big', { shares: 30 }), level('small', { shares: 10 })];
    const clients = () => new Clients(one, tenant);
    const [many, few, third, exempt] = [clients(), clients(), clients(), clients()];
    many.flood({ connections: 200, costMs: 0.05, place: place(big, 'many') });
    few.flood({ connections: 20, costMs: 0.05, place: place(big, 'few') });
    third.flood({ connections: 64, costMs: 0.05, place: place(small, 'third') });
    exempt.every(1, { connections: 1, costMs: 0.05, place: place(level('exempt', { isExempt: true })) });
    await one.loop.run(400);
    assert.ok(Math.abs(many.busyMs / few.busyMs - 1) < 0.1, `flows ${many.busyMs} : ${few.busyMs}`);
    const ratio = (many.busyMs + few.busyMs) / third.busyMs;
    assert.ok(Math.abs(ratio - 3) < 0.3, `levels ${ratio}`);
    assert.ok(exempt.answered > 390 && Math.max(...exempt.latencies) < 2, `${Math.max(...exempt.latencies)}`);
  });

  test('a level has its own seats, and borrows what others lend and do not use', async () => {
    const one = world();
    const tenant = new TenantQueue('a');
    tenant.use(
      new Map([
        ['lender', { nominal: 10, lendable: 4 }],
        ['poor', { nominal: 2, lendable: 0 }],
      ]),
    );
    const poor = place(level('poor'));
    const granted: unknown[] = [];
    const wait = (where: typeof poor) =>
      void one.queue.wait(tenant, { place: where, isMutating: false, onGone: undefined }).then((t) => granted.push(t));
    for (let n = 0; n < 20; n++) wait(poor);
    await one.loop.run(5);
    assert.equal(granted.length, 6);
  });
});

describe('bounds', () => {
  const refusals = async (queue: FairQueue, tenant: TenantQueue, count: number, where = ordinary) => {
    const outcomes: string[] = [];
    for (let n = 0; n < count; n++) {
      queue.wait(tenant, { place: where, isMutating: false, onGone: undefined }).then(
        () => outcomes.push('went'),
        (error: unknown) => outcomes.push(hasCode(error, 'TooManyRequests') ? '429' : 'failed'),
      );
    }
    return outcomes;
  };

  test('a flow is as long as its level says, and one that is refused is told half a second later', async () => {
    const one = world();
    const small = place(level('small', { queuing: { ofFlowMax: 5, max: 8 } }), 'x');
    const outcomes = await refusals(one.queue, new TenantQueue('a'), 7, small);
    await one.loop.run(490);
    assert.deepEqual(outcomes, Array(5).fill('went'));
    await one.loop.run(30);
    assert.deepEqual(outcomes, [...Array(5).fill('went'), '429', '429']);
  });

  test('a level is as long as all of its queues', async () => {
    const one = world();
    const tenant = new TenantQueue('a');
    const small = level('small', { queuing: { ofFlowMax: 5, max: 8 } });
    const first = await refusals(one.queue, tenant, 5, place(small, 'x'));
    const second = await refusals(one.queue, tenant, 5, place(small, 'y'));
    await one.loop.run(600);
    assert.equal([...first, ...second].filter((outcome) => outcome === '429').length, 2);
  });

  test('a level that rejects has room for its seats alone', async () => {
    const one = world();
    const tenant = new TenantQueue('a');
    tenant.use(new Map([['strict', { nominal: 3, lendable: 0 }]]));
    const outcomes = await refusals(one.queue, tenant, 5, place(level('strict', { queuing: undefined })));
    await one.loop.run(600);
    assert.deepEqual(outcomes, ['went', 'went', 'went', '429', '429']);
  });

  test('one tenant leaves room for the next, however many it sends', async () => {
    const one = world({ waitingMax: 100 });
    const endless = place(level('endless', { queuing: { ofFlowMax: 1_000, max: 1_000 } }));
    const [a, b] = [new TenantQueue('a'), new TenantQueue('b')];
    const first = await refusals(one.queue, a, 200, endless);
    const second = await refusals(one.queue, b, 10, endless);
    assert.equal(a.waiting, 50);
    assert.equal(b.waiting, 10);
    await one.loop.run(3_000);
    assert.equal(first.filter((outcome) => outcome === 'went').length, 50);
    assert.deepEqual(second, Array(10).fill('went'));
  });

  test('and many together leave some room for every other', async () => {
    const one = world({ waitingMax: 100 });
    for (let n = 0; n < 20; n++) await refusals(one.queue, new TenantQueue(`flood-${n}`), 200);
    assert.ok(one.queue.waiting >= 100);
    const quiet = await refusals(one.queue, new TenantQueue('quiet'), 8);
    await one.loop.run(3_000);
    assert.deepEqual(quiet, Array(8).fill('went'));
  });

  test('who waits too long is refused', async () => {
    const one = world({ readOnlyMax: 1, mutatingMax: 1, waitMaxMs: 5_000 });
    const tenant = new TenantQueue('a');
    const ticket = one.queue.enter(tenant, false)!;
    const outcomes = await refusals(one.queue, tenant, 3);
    await one.loop.run(4_000);
    assert.deepEqual(outcomes, []);
    await one.loop.run(3_000);
    assert.deepEqual(outcomes, ['429', '429', '429']);
    assert.equal(one.queue.waiting, 0);
    one.queue.leave(ticket);
    assert.equal(one.queue.enter(tenant, false) !== undefined, true);
  });

  test('writes of one tenant cannot take all seats, and what waits goes on when one is left', async () => {
    const one = world({ readOnlyMax: 4, mutatingMax: 4 });
    const [a, b] = [new TenantQueue('a'), new TenantQueue('b')];
    const held = [one.queue.enter(a, true), one.queue.enter(a, true), one.queue.enter(a, true)];
    assert.deepEqual(
      held.map((ticket) => ticket !== undefined),
      [true, true, false],
    );
    assert.ok(one.queue.enter(a, false), 'reads have seats of their own');
    assert.ok(one.queue.enter(b, true), 'and others write');
    let hasGone = false;
    void one.queue.wait(a, { place: ordinary, isMutating: true, onGone: undefined }).then(() => (hasGone = true));
    await one.loop.run(10);
    assert.equal(hasGone, false);
    one.queue.leave(held[0]!);
    one.queue.leave(held[1]!);
    await one.loop.run(10);
    assert.equal(hasGone, true);
  });
});

describe('a client that goes away', () => {
  test('waits no more and takes no seat', async () => {
    const one = world({ readOnlyMax: 1, mutatingMax: 1 });
    const tenant = new TenantQueue('a');
    const ticket = one.queue.enter(tenant, false)!;
    let goAway: (() => void) | undefined;
    const onGone = (callback: () => void) => ((goAway = callback), () => void (goAway = undefined));
    const gone = one.queue.wait(tenant, { place: ordinary, isMutating: false, onGone });
    const next = one.queue.wait(tenant, { place: ordinary, isMutating: false, onGone: undefined });
    goAway!();
    await assert.rejects(gone);
    assert.equal(one.queue.waiting, 1);
    one.queue.leave(ticket);
    await one.loop.run(5);
    one.queue.leave(await next);
    assert.deepEqual([tenant.seats, tenant.waiting], [0, 0]);
  });

  test('or is gone before it waits', async () => {
    const one = world();
    const tenant = new TenantQueue('a');
    const onGone = (callback: () => void) => (callback(), () => {});
    await assert.rejects(one.queue.wait(tenant, { place: ordinary, isMutating: false, onGone }));
    assert.equal(one.queue.waiting, 0);
    await one.loop.run(2_000);
    assert.equal(tenant.seats, 0);
  });
});

describe('what is idle', () => {
  test('costs nothing: no timer, no turn, nobody is known', async () => {
    const one = world();
    const clients = new Clients(one, 'a');
    clients.flood({ connections: 100, costMs: 0.05 });
    await one.loop.run(50);
    assert.equal(one.loop.timers, 1);
    clients.stop();
    await one.loop.run(3_000);
    assert.equal(one.queue.waiting, 0);
    assert.ok(one.loop.isIdle);
    assert.equal(clients.refused, 0);
  });
});

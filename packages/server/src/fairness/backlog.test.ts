import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Peer } from '../http/message.ts';
import { FairQueue } from './fair-queue.ts';
import { TenantQueue } from './tenant-queue.ts';
import { Clients, ordinary } from './testing/clients.ts';
import { VirtualLoop } from './testing/virtual-loop.ts';

const sliceMs = 0.25;

/** Connections whose requests cost a tenth of a millisecond, and the requests that were handled, by name. */
class World {
  readonly loop = new VirtualLoop();
  readonly queue = new FairQueue({ clock: this.loop, sliceMs, readOnlyMax: 1, mutatingMax: 0 });
  readonly handled: string[] = [];
  readonly #peers = new Map<string, Peer>();

  connect(name: string, tenant: TenantQueue | undefined, isPrivileged = false): void {
    const peer = this.#peers.get(name) ?? { address: name, certificate: undefined };
    this.#peers.set(name, peer);
    this.queue.take(peer, () => this.queue.cameFrom(peer, tenant, isPrivileged));
  }

  /** Each name is a connection; all requests are received in the next turn. */
  receive(tenant: TenantQueue, ...names: readonly string[]): void {
    for (const name of names) {
      this.loop.comes(() =>
        this.queue.take(this.#peers.get(name)!, () => {
          this.handled.push(name);
          const ticket = this.queue.enter(tenant, false);
          this.loop.spend(0.1);
          assert.ok(ticket, `${name} has to wait`);
          this.queue.leave(ticket);
        }),
      );
    }
  }
}

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

describe('received requests of a tenant that used up its slice', () => {
  test('are handled in later turns, after a request of another tenant that was received last', async () => {
    const world = new World();
    const [flood, quiet] = [new TenantQueue('flood'), new TenantQueue('quiet')];
    for (const name of names('f', 64)) world.connect(name, flood);
    world.connect('quiet', quiet);
    world.receive(flood, ...names('f', 64));
    world.receive(quiet, 'quiet');
    await world.loop.turn();
    assert.deepEqual(world.handled.slice(0, 4), ['f0', 'f1', 'f2', 'quiet']);
    for (let turn = 0; turn < 20; turn++) {
      const before = world.handled.length;
      await world.loop.turn();
      assert.ok(world.handled.length - before <= 3, 'one slice per turn');
    }
    await world.loop.run(10);
    assert.deepEqual(
      world.handled.filter((name) => name !== 'quiet'),
      names('f', 64),
    );
    assert.ok(world.loop.isIdle);
  });

  test('take turns by connection, and the requests of one connection stay in order', async () => {
    const world = new World();
    const tenant = new TenantQueue('a');
    for (const name of ['x', 'y', 'z']) world.connect(name, tenant);
    world.receive(tenant, 'x', 'x', 'x', /* used up */ 'x', 'x', 'x', 'y', 'y', 'z');
    await world.loop.run(10);
    assert.deepEqual(world.handled, ['x', 'x', 'x', 'x', 'y', 'z', 'x', 'y', 'x']);
  });

  test('of privileged users precede the others', async () => {
    const world = new World();
    const tenant = new TenantQueue('a');
    world.connect('user', tenant);
    world.connect('admin', tenant, true);
    world.receive(tenant, 'user', 'user', 'user', 'user', 'user', 'admin');
    await world.loop.run(10);
    assert.deepEqual(world.handled, ['user', 'user', 'user', 'admin', 'user', 'user']);
  });

  test('are handled at once on connections that never wait', async () => {
    const world = new World();
    const [tenant, root] = [new TenantQueue('a'), new TenantQueue('root', true)];
    world.connect('user', tenant);
    world.connect('operator', tenant);
    world.connect('operator', undefined);
    world.receive(tenant, 'user', 'user', 'user', 'user');
    world.receive(root, 'operator');
    await world.loop.turn();
    assert.deepEqual(world.handled.slice(0, 4), ['user', 'user', 'user', 'operator']);
  });

  test('wait while their tenant is held', async () => {
    const world = new World();
    const tenant = new TenantQueue('a');
    world.queue.add(tenant);
    world.connect('x', tenant);
    world.queue.stalled('a', 500);
    world.receive(tenant, 'x');
    await world.loop.run(400);
    assert.deepEqual(world.handled, []);
    await world.loop.run(200);
    assert.deepEqual(world.handled, ['x']);
  });

  test('are handled while all seats are taken, so that they wait by priority and time out', async () => {
    const world = new World();
    const tenant = new TenantQueue('a');
    assert.ok(world.queue.enter(tenant, false));
    const peer = { address: 'x', certificate: undefined };
    world.queue.take(peer, () => world.queue.cameFrom(peer, tenant, false));
    const outcomes: string[] = [];
    const handle = (): void => {
      assert.equal(world.queue.enter(tenant, false), undefined);
      world.queue.wait(tenant, { place: ordinary, isMutating: false, onGone: undefined }).then(
        () => outcomes.push('ran'),
        () => outcomes.push('refused'),
      );
    };
    world.loop.comes(() => {
      world.queue.runs(tenant);
      world.loop.spend(1);
      for (let n = 0; n < 3; n++) world.queue.take(peer, handle);
      assert.equal(world.queue.waiting, 0);
    });
    await world.loop.run(5);
    assert.equal(world.queue.waiting, 3);
    await world.loop.run(20_000);
    assert.deepEqual(outcomes, ['refused', 'refused', 'refused']);
  });

  test('delay a neighbour by two slices, the reading of the flood and one request', async () => {
    const loop = new VirtualLoop();
    const queue = new FairQueue({ clock: loop, sliceMs });
    const [flood, quiet] = [new Clients({ loop, queue }, 'flood'), new Clients({ loop, queue }, 'quiet')];
    flood.flood({ connections: 64, costMs: 0.03, socket: { readMs: 0.01, handleMs: 0.02 } });
    await loop.run(50);
    quiet.every(7.3, { connections: 1, costMs: 0.05 });
    await loop.run(1_000);
    assert.ok(quiet.latencies.length > 100);
    const worst = Math.max(...quiet.latencies);
    assert.ok(worst < 2 * sliceMs + 0.15, `${worst}`);
    assert.ok(flood.answered > 15_000, `the loop is busy: ${flood.answered}`);
    assert.equal(queue.waiting, 0);
  });
});

/**
 * Random requests of many tenants to a `FairQueue`: levels and flows, costs, duration of seats, disconnecting clients, and changes of
 * levels. Keeps separate records for comparison.
 */

import assert from 'node:assert/strict';
import { chance, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { FairQueue } from '../fair-queue.ts';
import type { Ticket } from '../fair-queue.ts';
import { TenantQueue } from '../tenant-queue.ts';
import { level, place } from './clients.ts';
import { VirtualLoop } from './virtual-loop.ts';

export const holdMaxMs = 80;

type End = 'answered' | 'refused' | 'given up';

interface Sent {
  readonly tenant: TenantQueue;
  readonly place: ReturnType<typeof place>;
  readonly isMutating: boolean;
  isWaiting: boolean;
  readonly ends: End[];
  giveUp: (() => void) | undefined;
}

const levels = [
  level('one'),
  level('two', { shares: 5, borrowable: 0.5 }),
  level('three', { shares: 500, queuing: { ofFlowMax: 3, max: 5 } }),
  level('rejecting', { queuing: undefined }),
  level('exempt', { isExempt: true, shares: 0 }),
];

export class RandomTraffic {
  readonly loop = new VirtualLoop();
  readonly queue: FairQueue;
  readonly tenants: readonly TenantQueue[];
  /** Further tenants that take seats; the test sends their requests. */
  readonly guests: TenantQueue[] = [];
  readonly sent: Sent[] = [];
  readonly #random: Random;
  readonly #seats: { readonly readOnlyMax: number; readonly mutatingMax: number };
  /** Waiting requests in the order of arrival. */
  readonly #waiting = new Set<Sent>();

  /** `waitMaxMs`: if infinite, no request times out. */
  constructor(seed: number, waitMaxMs: number) {
    const random = (this.#random = seededRandom(seed));
    this.#seats = { readOnlyMax: 1 + random.below(8), mutatingMax: 1 + random.below(5) };
    this.queue = new FairQueue({
      clock: this.loop,
      ...this.#seats,
      sliceMs: pick(random, [0.1, 0.5, 2]),
      waitMaxMs,
      heldMax: random.below(20),
      waitingMax: pick(random, [10, 40, 4_000]),
    });
    this.tenants = Array.from({ length: 2 + random.below(6) }, (_, n) => new TenantQueue(`tenant-${n}`));
    for (const tenant of this.tenants) this.#changeLevels(tenant);
  }

  async run(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) {
      for (let count = this.#random.below(5); count > 0; count--) this.loop.comes(() => void this.#send());
      if (chance(this.#random, 1 / 40)) this.#changeLevels(pick(this.#random, this.tenants));
      await this.#turn(this.#random.below(6));
    }
  }

  /** Runs until all requests are completed. */
  async end(): Promise<void> {
    for (let turn = 0; turn < 20_000 && !this.loop.isIdle; turn++) await this.#turn(20);
  }

  async #turn(asleepMs: number): Promise<void> {
    await this.loop.turn();
    this.#free();
    // A loop does not sleep while work is pending.
    if (!this.loop.isQuiet) return;
    this.#nobodyWaitsInVain();
    this.loop.spend(asleepMs);
  }

  async #send(): Promise<void> {
    const random = this.#random;
    const one: Sent = {
      tenant: pick(random, this.tenants),
      place: place(pick(random, levels), `flow-${random.below(4)}`),
      isMutating: chance(random, 0.5),
      isWaiting: false,
      ends: [],
      giveUp: undefined,
    };
    this.sent.push(one);
    const ticket = this.queue.enter(one.tenant, one.isMutating, chance(random, 0.5) ? one.place.level : undefined);
    if (ticket) return this.#serve(one, ticket);
    const waiting = this.#wait(one);
    if (chance(random, 1 / 5)) this.loop.after(random.below(200), () => one.giveUp?.());
    await waiting.then(
      (given) => this.#serve(one, given),
      () => this.#ended(one, one.giveUp ? 'given up' : 'refused'),
    );
  }

  #wait(one: Sent): Promise<Ticket> {
    const before = this.queue.waiting;
    let hasGivenUp = false;
    const waiting = this.queue.wait(one.tenant, {
      place: one.place,
      isMutating: one.isMutating,
      onGone: (callback) => {
        one.giveUp = () => {
          hasGivenUp = true;
          this.#leaves(one);
          callback();
        };
        return () => {
          assert.equal(hasGivenUp, false, 'who has given up is not let go, nor refused');
          one.giveUp = undefined;
          this.#leaves(one);
        };
      },
    });
    if (this.queue.waiting === before) return waiting;
    one.isWaiting = true;
    this.#waiting.add(one);
    return waiting;
  }

  #leaves(one: Sent): void {
    one.isWaiting = false;
    this.#waiting.delete(one);
  }

  async #serve(one: Sent, ticket: Ticket): Promise<void> {
    this.loop.spend(this.#random.below(40) / 100);
    if (chance(this.#random, 0.7)) {
      await new Promise<void>((resolve) => this.loop.after(this.#random.below(holdMaxMs), resolve));
    }
    if (chance(this.#random, 0.3)) this.queue.charge(ticket, this.#random.below(10) / 10);
    this.queue.leave(ticket);
    this.#ended(one, 'answered');
  }

  #ended(one: Sent, end: End): void {
    one.ends.push(end);
  }

  #changeLevels(tenant: TenantQueue): void {
    const some = () => ({ nominal: this.#random.below(4), lendable: this.#random.below(2) });
    this.queue.useLevels(tenant, new Map(levels.map(({ name }) => [name, some()])));
  }

  #sum(of: (tenant: TenantQueue) => number): number {
    return [...this.tenants, ...this.guests].reduce((sum, one) => sum + of(one), 0);
  }

  #free(): { readonly free: number; readonly mutatingFree: number; readonly areAllTaken: boolean } {
    const { readOnlyMax, mutatingMax } = this.#seats;
    const free = readOnlyMax + mutatingMax - this.#sum((one) => one.seats);
    const mutatingFree = mutatingMax - this.#sum((one) => one.mutatingSeats);
    // Beyond the shared seats, the same number is reserved for tenants without a seat.
    const max = readOnlyMax + mutatingMax;
    assert.ok(free >= -max, 'more are under way than there are seats');
    const alone = [...this.tenants, ...this.guests].filter((one) => one.seats > 0).length;
    assert.ok(free >= -alone, 'somebody has more than his first beyond the shared seats');
    return { free, mutatingFree, areAllTaken: free === -max };
  }

  /** When the loop is idle, the first request of every flow waits only because it has no seat. */
  #nobodyWaitsInVain(): void {
    assert.equal(
      this.queue.waiting,
      this.#sum((one) => one.waiting),
    );
    assert.equal(
      this.#waiting.size,
      this.tenants.reduce((sum, one) => sum + one.waiting, 0),
    );
    const { free, mutatingFree, areAllTaken } = this.#free();
    const flows = new Set<string>();
    for (const { tenant, place: at, isMutating } of this.#waiting) {
      const flow = [tenant.name, at.level.name, at.flow].join();
      if (flows.has(flow)) continue;
      flows.add(flow);
      const canGo =
        !areAllTaken &&
        (tenant.seats === 0 || tenant.seats < free) &&
        (!isMutating || tenant.mutatingSeats === 0 || tenant.mutatingSeats < mutatingFree) &&
        tenant.hasSeat(tenant.level(at.level));
      assert.ok(!canGo, `${flow} waits although there is a seat for it`);
    }
  }
}

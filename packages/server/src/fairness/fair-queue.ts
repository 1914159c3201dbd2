/**
 * Shares out one process among tenants. What is scarce is the time of its one event loop, not the number of requests: so
 * tenants take turns by the time they were really given, whatever the number of their connections and whatever they ask for.
 *
 *   a turn of the loop    what sockets brought                          then, what waited
 *                         ├ A ┼ A ┼ A: its slice is used up, it waits   ├ B … fair order, one slice in all ┤ next turn
 *                               └ B: was given nothing yet, goes on at once
 *
 * Nothing waits while there is time: a tenant's requests go on at once until it has used up its slice of the turn, or has
 * no seat. What waits goes on after everything that came with this turn was read, in fair order, for one slice; then the loop
 * turns again. So a tenant that asks for little is at most a slice behind those who ask for everything, and whoever floods
 * waits for his own requests alone: a connection without an answer brings no more of them.
 *
 * Time is measured from one mark to the next (a request comes, its user is known, it goes on after waiting, it is answered), with
 * whatever was done between. What comes later, after a commit or a drained socket, is estimated by those who know what it was.
 * There is no bound to what is charged: a tenant that took the loop for seconds waits as long before its next request goes on.
 *
 * Nothing here costs anything while nobody asks: no timer runs unless somebody waits.
 */

import { detachedClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { FairOrder } from './fair-order.ts';
import { FairnessMetrics } from './fairness-metrics.ts';
import { HeldRefusals } from './held-refusals.ts';
import { Seats } from './seats.ts';
import type { PriorityLevel } from './flow-control/priority-level.ts';
import { clientGone, tooManyRequests } from './refusal.ts';
import type { Flow, Level, LevelSeats, Place, TenantQueue, Waiting } from './tenant-queue.ts';

export interface FairQueueOptions {
  readonly clock: Clock;
  /** How many that only read are under way at once; as kube-apiserver's `--max-requests-inflight`. */
  readonly readOnlyMax?: number;
  /** The same for those that change something. */
  readonly mutatingMax?: number;
  /** What waits is given so much of a turn; a tenant may use as much before it waits. */
  readonly sliceMs?: number;
  /** Who waits longer is refused. As kube-apiserver: a quarter of a request's minute. */
  readonly waitMaxMs?: number;
  readonly waitingMax?: number;
  /** Refusals that are told later. */
  readonly heldMax?: number;
  /** CPU time that this thread has used. Absent: time that passes is time that is used, as in tests. */
  readonly cpuMs?: () => number;
}

/** A request that was let through; give it back to `leave`. */
export interface Ticket {
  readonly tenant: TenantQueue;
  readonly isMutating: boolean;
  readonly hasSeat: boolean;
  /** Undefined: nobody asked. */
  readonly level: Level | undefined;
  /** Undefined: it went on at once. */
  readonly flow: Flow | undefined;
}

/** How one asks to wait. */
export interface WaitOptions {
  readonly place: Place;
  readonly isMutating: boolean;
  /** Calls back when the client goes away; to be taken back by what it returns. */
  readonly onGone: ((callback: () => void) => () => void) | undefined;
}

const defaults = { readOnlyMax: 400, mutatingMax: 200, sliceMs: 0.25, waitMaxMs: 15_000, waitingMax: 4_000 };
/** All tenants together may use so much of a turn before everybody waits who was given his due. */
const turnMaxMs = 2;
/** At most so many go on in one turn: what is cheaper than this part of a slice does not keep anybody waiting. */
const stepsMax = 32;
/** So many of every tenant may wait, however many others do. */
const waitingOfOneMin = 8;
/** Longer times are limited to the CPU time of the thread: during the rest the process or the machine was stopped. */
const checkedMs = 20;
/** A tenant that blocks the loop for so long then waits for the same time, at most `holdMaxMs`: others get half of the time. */
const stallMs = 100;
const holdMaxMs = 10_000;
/** The report of a stall comes with one of the next turns. */
const stallAgeMaxMs = 5_000;
const lookForOldEveryMs = 1_000;

export class FairQueue {
  readonly metrics = new FairnessMetrics();
  readonly #clock: Clock;
  readonly #options: Readonly<typeof defaults> & Pick<FairQueueOptions, 'cpuMs'>;
  readonly #seats: Seats;
  readonly #held: HeldRefusals;
  /** Tenants of which somebody waits. */
  readonly #order = new FairOrder<TenantQueue>();
  #waiting = 0;
  /** Ranks of earlier ones do not count: when nobody waits, all are even. */
  #epoch = 0;

  #turn = 0;
  #isTurning = false;
  #usedMs = 0;
  /** Whose time it is, and since when. */
  #running: TenantQueue | undefined;
  #runningFlow: Flow | undefined;
  #sinceMs = 0;
  /** When the server began with a request whose tenant is not known yet. */
  #unclaimedSinceMs: number | undefined;
  /** The CPU time at `#cpuReadMs`. */
  #cpuMs = 0;
  #cpuReadMs = -Infinity;
  /** The last stall that was measured here. */
  #stall: { readonly tenant: TenantQueue; readonly ms: number; readonly atMs: number } | undefined;
  readonly #tenants = new Map<string, TenantQueue>();

  /** Steps that were asked for and did not come yet. */
  #steps = 0;
  #steppedMs = 0;
  #isStepping = false;
  #isLookingForOld = false;

  constructor(options: FairQueueOptions) {
    // Turns serve all tenants, not the one whose request began the turn.
    this.#clock = detachedClock(options.clock);
    this.#options = { ...defaults, ...options };
    this.#seats = new Seats(this.#options.readOnlyMax, this.#options.mutatingMax);
    this.#held = new HeldRefusals(this.#clock, options.heldMax ?? 10_000);
  }

  /** Of all priority levels of a tenant together. */
  get seatsMax(): number {
    return this.#seats.max;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** What its control plane's objects say now. */
  useLevels(tenant: TenantQueue, seats: LevelSeats): void {
    tenant.use(seats);
    if (this.#waiting > 0) this.#askForSteps(1);
  }

  /** `stalled` finds the tenant by its name until `forget`. */
  add(tenant: TenantQueue): void {
    this.#tenants.set(tenant.name, tenant);
  }

  forget(tenant: TenantQueue): void {
    if (this.#tenants.get(tenant.name) === tenant) this.#tenants.delete(tenant.name);
  }

  /** A request comes: the time from now on is charged to the tenant that is named next, by `runs`, `enter` or `pass`. */
  arrives(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#running) this.#account(nowMs);
    this.#beginTurn();
    this.#readCpu(nowMs);
    this.#unclaimedSinceMs = nowMs;
  }

  /** The request that arrived was refused before its user was known: the time since then is charged to no tenant. */
  refusedUnknown(): void {
    this.#unclaimedSinceMs = undefined;
  }

  /** Charges the time from now on, and the time since `arrives`, to the tenant. */
  runs(tenant: TenantQueue): void {
    this.#runs(tenant, undefined);
  }

  /**
   * Charges a stall that was observed from outside, and holds the tenant. One that was charged to the same tenant here is not
   * charged again, one that was charged to another tenant is taken back from it.
   */
  stalled(name: string, ms: number): void {
    const tenant = this.#tenants.get(name);
    const last = this.#stall;
    this.#stall = undefined;
    const measured = last && this.#clock.monotonicMs() - last.atMs < stallAgeMaxMs ? last : undefined;
    const isCharged = tenant !== undefined && measured?.tenant === tenant;
    if (measured && !isCharged) this.#order.charge(measured.tenant, -measured.ms);
    if (!tenant) return;
    if (!isCharged) this.#order.charge(tenant, ms);
    this.#hold(tenant, ms);
  }

  /** It came: from now on it is its tenant's time. Undefined: it has to wait. `given`: where it belongs, if that is known. */
  enter(tenant: TenantQueue, isMutating: boolean, given?: PriorityLevel): Ticket | undefined {
    this.#runs(tenant, undefined);
    const { sliceMs } = this.#options;
    const { now } = this.#order;
    if (tenant.waiting > 0 || tenant.usedMs >= sliceMs || this.#isHeld(tenant)) return undefined;
    if (this.#usedMs >= turnMaxMs && tenant.rank > now) return undefined;
    if (this.#waiting > 0 && tenant.rank > now + sliceMs) return undefined;
    if (!this.#seats.isFreeFor(tenant, isMutating)) return undefined;
    const level = given && tenant.level(given);
    if (level) {
      if (!tenant.hasSeat(level)) return undefined;
      level.seats++;
    }
    this.#seats.take(tenant, isMutating);
    return { tenant, isMutating, hasSeat: true, level, flow: undefined };
  }

  /** Goes on whatever else there is to do; its time is its tenant's all the same. */
  pass(tenant: TenantQueue): Ticket {
    this.#runs(tenant, undefined);
    return { tenant, isMutating: false, hasSeat: false, level: undefined, flow: undefined };
  }

  /** Rejects with 429. */
  wait(tenant: TenantQueue, { place, isMutating, onGone }: WaitOptions): Promise<Ticket> {
    const isFull = tenant.waiting >= Math.max(waitingOfOneMin, this.#options.waitingMax - this.#waiting);
    if (isFull || !tenant.hasRoomFor(place)) {
      this.metrics.refused(place, place.level.queuing ? 'queue-full' : 'concurrency-limit');
      return this.refuse(tenant, tooManyRequests);
    }
    return new Promise((resolve, reject) => {
      const sinceMs = this.#clock.monotonicMs();
      const waiting: Waiting = {
        place,
        isMutating,
        sinceMs,
        isGone: false,
        go: (flow) => {
          unhook?.();
          this.metrics.dispatched(place, (this.#clock.monotonicMs() - sinceMs) / 1_000);
          resolve({ tenant, isMutating, hasSeat: true, level: flow.level, flow });
        },
        refuse: () => {
          unhook?.();
          this.metrics.refused(place, 'time-out');
          reject(tooManyRequests);
        },
      };
      let unhook: (() => void) | undefined;
      this.#push(tenant, waiting);
      unhook = onGone?.(() => {
        if (waiting.isGone) return;
        this.#dropped(tenant, () => tenant.drop(waiting));
        this.metrics.refused(place, 'cancelled');
        reject(clientGone);
      });
    });
  }

  /** Rejects with this error, later than it could. */
  refuse(tenant: TenantQueue, error: Error): Promise<never> {
    return new Promise((_, reject) => this.#held.hold(tenant, () => reject(error)));
  }

  /** What it will cost besides what is measured, in milliseconds of the loop. */
  charge({ tenant, flow }: Ticket, laterMs: number): void {
    this.#order.charge(tenant, laterMs);
    if (flow) tenant.charge(flow, laterMs);
  }

  /** The request is answered. */
  leave({ tenant, isMutating, hasSeat, level, flow }: Ticket): void {
    if (hasSeat) this.#seats.leave(tenant, isMutating);
    if (level) level.seats--;
    // Sending the answer is still its time.
    if (this.#isTurning) this.#runs(tenant, flow);
    if (this.#waiting > 0) this.#askForSteps(1);
  }

  text(): string {
    return this.metrics.text();
  }

  // Time.

  #runs(tenant: TenantQueue, flow: Flow | undefined): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#running) this.#account(nowMs);
    this.#beginTurn();
    if (tenant.turn !== this.#turn) {
      tenant.turn = this.#turn;
      tenant.usedMs = 0;
      this.#beginEven(tenant);
    }
    this.#readCpu(nowMs);
    this.#running = tenant;
    this.#runningFlow = flow;
    this.#sinceMs = this.#unclaimedSinceMs ?? nowMs;
    this.#unclaimedSinceMs = undefined;
  }

  #beginTurn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    this.#turn++;
    this.#usedMs = 0;
    this.#clock.soon(this.#turned);
  }

  /** Reads the CPU time at the start of a measurement, but not for each one, since it is a system call. */
  #readCpu(nowMs: number): void {
    const { cpuMs } = this.#options;
    if (!cpuMs || this.#unclaimedSinceMs !== undefined || nowMs - this.#cpuReadMs < checkedMs) return;
    this.#cpuMs = cpuMs();
    this.#cpuReadMs = nowMs;
  }

  /** The time since `#sinceMs`, without what the thread did not run. */
  #measured(nowMs: number): number {
    const ms = nowMs - this.#sinceMs;
    const { cpuMs } = this.#options;
    return ms < checkedMs || !cpuMs ? ms : Math.min(ms, cpuMs() - this.#cpuMs);
  }

  #beginEven(tenant: TenantQueue): void {
    if (tenant.epoch === this.#epoch) return;
    tenant.epoch = this.#epoch;
    tenant.rank = this.#order.now;
    tenant.debtMs = 0;
  }

  #account(nowMs: number): void {
    const tenant = this.#running!;
    const ms = this.#measured(nowMs);
    this.#usedMs += ms;
    tenant.usedMs += ms;
    this.#order.charge(tenant, tenant.owes(ms, this.#options.sliceMs));
    if (this.#runningFlow) tenant.charge(this.#runningFlow, ms);
    this.#running = undefined;
    // It may have been a garbage collection: the watchdog can tell, and reports stalls.
    if (ms >= stallMs) this.#stall = { tenant, ms, atMs: nowMs };
  }

  // Tenants that took the loop.

  #hold(tenant: TenantQueue, ms: number): void {
    if (tenant.isPlatform) return;
    tenant.heldUntilMs = Math.max(tenant.heldUntilMs, this.#clock.monotonicMs()) + Math.min(ms, holdMaxMs);
    if (tenant.waiting > 0) this.#wakeHeld(tenant);
  }

  #isHeld(tenant: TenantQueue): boolean {
    return tenant.heldUntilMs > 0 && tenant.heldUntilMs > this.#clock.monotonicMs();
  }

  #wakeHeld(tenant: TenantQueue): void {
    if (tenant.isWoken) return;
    tenant.isWoken = true;
    this.#clock.after(Math.max(1, tenant.heldUntilMs - this.#clock.monotonicMs()), () => {
      tenant.isWoken = false;
      if (tenant.waiting === 0) return;
      if (this.#isHeld(tenant)) this.#wakeHeld(tenant);
      else this.#askForSteps(1);
    });
  }

  /** Everything that came with this turn was read. */
  readonly #turned = (): void => {
    if (this.#running) this.#account(this.#clock.monotonicMs());
    this.#isTurning = false;
    this.#unclaimedSinceMs = undefined;
    if (this.#waiting === 0) this.#epoch++;
  };

  // Those who wait.

  #push(tenant: TenantQueue, waiting: Waiting): void {
    this.#beginEven(tenant);
    tenant.push(waiting);
    this.#waiting++;
    this.metrics.queued(waiting.place);
    this.#order.add(tenant);
    if (this.#isHeld(tenant)) this.#wakeHeld(tenant);
    else this.#askForSteps(1);
    this.#lookForOld();
  }

  #dropped(tenant: TenantQueue, drop: () => void): void {
    const before = tenant.waiting;
    drop();
    this.#waiting -= before - tenant.waiting;
    if (tenant.waiting === 0) this.#order.remove(tenant);
    // Whoever was behind it may be able to go where it was not.
    if (this.#waiting > 0) this.#askForSteps(1);
  }

  /** Each lets one go on. They come after one another with everything in between that follows from a request. */
  #askForSteps(count: number): void {
    for (let asked = 0; asked < count && this.#steps < stepsMax; asked++) {
      this.#steps++;
      this.#clock.soon(this.#step);
    }
  }

  readonly #step = (): void => {
    this.#steps--;
    const nowMs = this.#clock.monotonicMs();
    if (this.#running) this.#account(nowMs);
    if (!this.#isStepping) {
      this.#isStepping = true;
      this.#steppedMs = nowMs;
    }
    const isOver = nowMs - this.#steppedMs >= this.#options.sliceMs;
    const hasGone = !isOver && this.#waiting > 0 && this.#letOneGo();
    if (this.#steps > 0) return;
    this.#isStepping = false;
    // Who cannot go on now is asked again when a seat is left.
    if (isOver || hasGone) this.#askForSteps(Math.min(this.#waiting, stepsMax));
  };

  #letOneGo(): boolean {
    if (this.#seats.areTaken) return false;
    const canGo = (one: TenantQueue) => (waiting: Waiting) => this.#seats.isFreeFor(one, waiting.isMutating);
    const tenant = this.#order.first(
      (one) => !this.#isHeld(one) && this.#seats.isFreeFor(one, false) && one.next(canGo(one)) !== undefined,
    );
    const flow = tenant?.next(canGo(tenant));
    if (!tenant || !flow) return false;
    this.#order.serve(tenant);
    const waiting = tenant.take(flow);
    this.#waiting--;
    if (tenant.waiting === 0) this.#order.remove(tenant);
    this.#seats.take(tenant, waiting.isMutating);
    flow.level.seats++;
    this.#runs(tenant, flow);
    waiting.go(flow);
    return true;
  }

  #lookForOld(): void {
    if (this.#isLookingForOld || this.#waiting === 0) return;
    this.#isLookingForOld = true;
    this.#clock.after(lookForOldEveryMs, () => {
      this.#isLookingForOld = false;
      const sinceMs = this.#clock.monotonicMs() - this.#options.waitMaxMs;
      for (const tenant of this.#order.all.slice()) {
        this.#dropped(tenant, () => {
          for (const waiting of tenant.takeOlder(sinceMs)) waiting.refuse();
        });
      }
      this.#lookForOld();
    });
  }
}

/**
 * Shares one process among tenants. The scarce resource is the time of the event loop, not the number of requests: tenants take turns by
 * the time they used, regardless of the number of their connections and of what they request.
 *
 *   a turn of the loop    requests from sockets                       then, waiting requests
 *                         ├ A ┼ A ┼ A: slice used up, it waits        ├ B … fair order, one slice in all ┤ next turn
 *                               └ B: used nothing yet, runs at once
 *
 * Nothing waits while there is time: requests of a tenant run at once until it has used its slice of the turn or has no seat. Waiting
 * requests run after all requests of the turn were read, in fair order, for one slice; then the next turn starts. A tenant with few
 * requests is thus delayed by at most a slice, and a tenant that floods waits only for its own requests: a connection that awaits a
 * response sends no further requests.
 *
 * Other work of the process, such as scans and copies, also runs in slices between the turns. When it makes turns long, the slice of waiting
 * requests grows with it: they get half of the time, instead of one request for each slice of other work.
 *
 * Requests from connections of a tenant that used up its slice are not even handled: they stay in its `Backlog`, and its turns handle them.
 *
 * Time is measured between marks (a request arrives, its user is known, it resumes after waiting, it is answered), including all work in
 * between. Later work, after a commit or a drained socket, is estimated by the caller. Charges are unbounded: a tenant that blocked the
 * loop for seconds waits equally long before its next request.
 *
 * Idle cost is zero: no timer runs unless a request waits.
 */

import { assert, detachedClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Intake, Peer } from '../http/message.ts';
import { Source } from './backlog.ts';
import { FairOrder } from './fair-order.ts';
import { FairnessMetrics } from './fairness-metrics.ts';
import { HeldRefusals } from './held-refusals.ts';
import { Seats } from './seats.ts';
import type { PriorityLevel } from './flow-control/priority-level.ts';
import { clientGone, tooManyRequests } from './refusal.ts';
import type { Flow, Level, LevelSeats, Place, TenantQueue, Waiting } from './tenant-queue.ts';

export interface FairQueueOptions {
  readonly clock: Clock;
  /** Maximum number of concurrent read requests, like `--max-requests-inflight` of kube-apiserver. */
  readonly readOnlyMax?: number;
  /** Maximum number of concurrent mutating requests. */
  readonly mutatingMax?: number;
  /** Time per turn for all waiting requests; also the time that a tenant may use before its requests wait. */
  readonly sliceMs?: number;
  /** Requests that wait longer are rejected. As in kube-apiserver: a quarter of the request timeout of a minute. */
  readonly waitMaxMs?: number;
  readonly waitingMax?: number;
  /** Maximum number of delayed rejections. */
  readonly heldMax?: number;
  /** CPU time used by this thread. Absent: elapsed time counts, as in tests. */
  readonly cpuMs?: () => number;
}

/** An admitted request, to be passed to `leave`. */
export interface Ticket {
  readonly tenant: TenantQueue;
  readonly isMutating: boolean;
  readonly hasSeat: boolean;
  /** Undefined: not classified. */
  readonly level: Level | undefined;
  /** Undefined: the request did not wait. */
  readonly flow: Flow | undefined;
}

export interface WaitOptions {
  readonly place: Place;
  readonly isMutating: boolean;
  /** Registers a callback for a disconnect of the client, and returns a function that removes it. */
  readonly onGone: ((callback: () => void) => () => void) | undefined;
}

const defaults = { readOnlyMax: 400, mutatingMax: 200, sliceMs: 0.25, waitMaxMs: 15_000, waitingMax: 4_000 };
/** Time per turn for all tenants together, after which tenants above the current rank wait. */
const turnMaxMs = 2;
/** The slice of waiting requests after a turn that took longer than `turnMaxMs`: as long as the rest of the turn, up to this time. */
const grownSliceMaxMs = 8;
/** Maximum number of requests dispatched in one turn. Requests that cost less than this fraction of a slice delay others only slightly. */
const stepsMax = 32;
/** Number of requests that each tenant may always queue, regardless of other tenants. */
const waitingOfOneMin = 8;
/** Longer measurements are capped by the CPU time of the thread: for the rest of the time the process or the machine was stopped. */
const checkedMs = 20;
/** A tenant that blocks the loop for this long then waits for the same time, at most `holdMaxMs`: others get half of the time. */
const stallMs = 100;
const holdMaxMs = 10_000;
/** Maximum age of a stall when it is reported, which happens in one of the next turns. */
const stallAgeMaxMs = 5_000;
const lookForOldEveryMs = 1_000;

export class FairQueue implements Intake {
  readonly metrics = new FairnessMetrics();
  readonly #clock: Clock;
  readonly #options: Readonly<typeof defaults> & Pick<FairQueueOptions, 'cpuMs'>;
  readonly #seats: Seats;
  readonly #held: HeldRefusals;
  /** Tenants with waiting requests. */
  readonly #order = new FairOrder<TenantQueue>();
  #waiting = 0;
  /** Number of requests in all backlogs. */
  #unhandled = 0;
  /** By connection. Undefined: its requests never wait. */
  readonly #sources = new WeakMap<Peer, Source | undefined>();
  /** The tenant whose request was taken from its backlog, until the request enters. */
  #served: TenantQueue | undefined;
  /** Ranks of earlier epochs do not count: ranks are reset when no request waits. */
  #epoch = 0;

  #turn = 0;
  #isTurning = false;
  #usedMs = 0;
  /** The tenant that is charged since `#sinceMs`. */
  #running: TenantQueue | undefined;
  #runningFlow: Flow | undefined;
  #sinceMs = 0;
  /** Start of a request whose tenant is not known yet. */
  #unclaimedSinceMs: number | undefined;
  /** CPU time at `#cpuReadMs`. */
  #cpuMs = 0;
  #cpuReadMs = -Infinity;
  /** The last stall measured here. */
  #stall: { readonly tenant: TenantQueue; readonly ms: number; readonly atMs: number } | undefined;
  readonly #tenants = new Map<string, TenantQueue>();

  /** Number of scheduled steps. */
  #steps = 0;
  #steppedMs = 0;
  /** Steps of this turn that are still to run, and the time for all of them. Steps that are scheduled meanwhile run in the next turn. */
  #stepsLeft = 0;
  #stepsMsMax = 0;
  /** Time of the last step, or of the first request that waits after it. */
  #restSinceMs = 0;
  #isLookingForOld = false;

  constructor(options: FairQueueOptions) {
    // Turns serve all tenants, not only the one whose request started the turn.
    this.#clock = detachedClock(options.clock);
    this.#options = { ...defaults, ...options };
    this.#seats = new Seats(this.#options.readOnlyMax, this.#options.mutatingMax);
    this.#held = new HeldRefusals(this.#clock, options.heldMax ?? 10_000);
  }

  /** Seats of all priority levels of a tenant together. */
  get seatsMax(): number {
    return this.#seats.max;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Applies the current priority levels of the control plane. */
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

  /** Time of the event loop that the tenant of this name used since `add`. */
  totalMs(name: string): number {
    return this.#tenants.get(name)?.totalMs ?? 0;
  }

  /** Handles a received request at once, or later if the tenant of its connection used up its slice of the turn. */
  take(peer: Peer, handle: () => void): void {
    const source = this.#sources.get(peer);
    if (!source) this.#sources.set(peer, undefined);
    if (!source || !this.#isUsedUp(source.tenant)) return handle();
    const { tenant } = source;
    this.#beginEven(tenant);
    if (!this.#hasPending) this.#restSinceMs = this.#clock.monotonicMs();
    tenant.backlog.push(source, handle);
    this.#unhandled++;
    this.#order.add(tenant);
    if (this.#isHeld(tenant)) this.#wakeHeld(tenant);
    else this.#askForSteps(1);
  }

  /** Assigns a connection to the tenant of its last request. Undefined: its requests never wait. Callers in the same process have none. */
  cameFrom(peer: Peer, tenant: TenantQueue | undefined, isPrivileged: boolean): void {
    const source = this.#sources.get(peer);
    if (source?.tenant === tenant && source?.isPrivileged === isPrivileged) return;
    if (this.#sources.has(peer)) this.#sources.set(peer, tenant && new Source(tenant, isPrivileged));
  }

  /** Called when a request arrives: the time from now on is charged to the tenant in the next call of `runs`, `enter` or `pass`. */
  arrives(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#running) this.#account(nowMs);
    this.#beginTurn();
    this.#readCpu(nowMs);
    this.#unclaimedSinceMs = nowMs;
  }

  /** Called when the request was rejected before its user was known: the time since `arrives` is charged to no tenant. */
  refusedUnknown(): void {
    this.#unclaimedSinceMs = undefined;
  }

  /** Charges the time from now on, and the time since `arrives`, to the tenant. */
  runs(tenant: TenantQueue): void {
    this.#runs(tenant, undefined);
  }

  /**
   * Charges a stall that was observed from outside, and holds the tenant. A stall already charged to this tenant is not charged again; one
   * charged to another tenant is refunded.
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

  /**
   * Admits a request and charges the time from now on to its tenant. Returns undefined if the request must wait. `given`: its priority
   * level, if known.
   */
  enter(tenant: TenantQueue, isMutating: boolean, given?: PriorityLevel): Ticket | undefined {
    this.#runs(tenant, undefined);
    const { sliceMs } = this.#options;
    const { now } = this.#order;
    const isServed = this.#served === tenant;
    this.#served = undefined;
    if (tenant.waiting > 0 || this.#isHeld(tenant) || (!isServed && tenant.usedMs >= sliceMs)) return undefined;
    if (this.#usedMs >= turnMaxMs && tenant.rank > now) return undefined;
    if (this.#hasPending && tenant.rank > now + sliceMs) return undefined;
    if (!this.#seats.isFreeFor(tenant, isMutating)) return undefined;
    const level = given && tenant.level(given);
    if (level) {
      if (!tenant.hasSeat(level)) return undefined;
      level.seats++;
    }
    this.#seats.take(tenant, isMutating);
    return { tenant, isMutating, hasSeat: true, level, flow: undefined };
  }

  /** Admits a request unconditionally; its time is charged to the tenant. */
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

  /** Rejects with this error after a delay. */
  refuse(tenant: TenantQueue, error: Error): Promise<never> {
    return new Promise((_, reject) => this.#held.hold(tenant, () => reject(error)));
  }

  /** Charges estimated later work, in milliseconds of the loop. */
  charge({ tenant, flow }: Ticket, laterMs: number): void {
    this.#order.charge(tenant, laterMs);
    if (flow) tenant.charge(flow, laterMs);
  }

  /** Called when the request is answered. */
  leave({ tenant, isMutating, hasSeat, level, flow }: Ticket): void {
    if (hasSeat) this.#seats.leave(tenant, isMutating);
    if (level) level.seats--;
    // Sending the response is still charged to the tenant.
    if (this.#isTurning) this.#runs(tenant, flow);
    if (this.#hasPending) this.#askForSteps(1);
  }

  text(): string {
    return this.metrics.text();
  }

  // Time accounting.

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

  /** Reads the CPU time at the start of a measurement. Throttled, because it is a system call. */
  #readCpu(nowMs: number): void {
    const { cpuMs } = this.#options;
    if (!cpuMs || this.#unclaimedSinceMs !== undefined || nowMs - this.#cpuReadMs < checkedMs) return;
    this.#cpuMs = cpuMs();
    this.#cpuReadMs = nowMs;
  }

  /** Returns the time since `#sinceMs` during which the thread ran. */
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
    tenant.totalMs += ms;
    this.#order.charge(tenant, tenant.owes(ms, this.#options.sliceMs));
    if (this.#runningFlow) tenant.charge(this.#runningFlow, ms);
    this.#running = undefined;
    // The cause may be a garbage collection: the watchdog distinguishes this, and reports stalls.
    if (ms >= stallMs) this.#stall = { tenant, ms, atMs: nowMs };
  }

  // Tenants that blocked the loop.

  #hold(tenant: TenantQueue, ms: number): void {
    if (tenant.isPlatform) return;
    tenant.heldUntilMs = Math.max(tenant.heldUntilMs, this.#clock.monotonicMs()) + Math.min(ms, holdMaxMs);
    if (tenant.hasPending) this.#wakeHeld(tenant);
  }

  #isHeld(tenant: TenantQueue): boolean {
    return tenant.heldUntilMs > 0 && tenant.heldUntilMs > this.#clock.monotonicMs();
  }

  #wakeHeld(tenant: TenantQueue): void {
    if (tenant.isWoken) return;
    tenant.isWoken = true;
    this.#clock.after(Math.max(1, tenant.heldUntilMs - this.#clock.monotonicMs()), () => {
      tenant.isWoken = false;
      if (!tenant.hasPending) return;
      if (this.#isHeld(tenant)) this.#wakeHeld(tenant);
      else this.#askForSteps(1);
    });
  }

  /** Called after all requests of this turn were read. */
  readonly #turned = (): void => {
    if (this.#running) this.#account(this.#clock.monotonicMs());
    this.#isTurning = false;
    this.#unclaimedSinceMs = undefined;
    if (!this.#hasPending) this.#epoch++;
  };

  // Waiting requests.

  get #hasPending(): boolean {
    return this.#waiting > 0 || this.#unhandled > 0;
  }

  #isUsedUp(tenant: TenantQueue): boolean {
    this.#served = undefined;
    if (tenant.backlog.count > 0 || this.#isHeld(tenant)) return true;
    if (!this.#isTurning || tenant.turn !== this.#turn) return false;
    if (this.#running === tenant) this.#account(this.#clock.monotonicMs());
    return tenant.usedMs >= this.#options.sliceMs;
  }

  #push(tenant: TenantQueue, waiting: Waiting): void {
    this.#beginEven(tenant);
    if (!this.#hasPending) this.#restSinceMs = waiting.sinceMs;
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
    if (!tenant.hasPending) this.#order.remove(tenant);
    // Requests behind it may now be able to run.
    if (this.#waiting > 0) this.#askForSteps(1);
  }

  /** Schedules steps, each of which dispatches one request. Other work of the loop runs between them. */
  #askForSteps(count: number): void {
    for (let asked = 0; asked < count && this.#steps < stepsMax; asked++) {
      this.#steps++;
      this.#clock.soon(this.#step);
    }
  }

  readonly #step = (): void => {
    const nowMs = this.#clock.monotonicMs();
    if (this.#running) this.#account(nowMs);
    if (this.#stepsLeft === 0) {
      this.#stepsLeft = this.#steps;
      this.#steppedMs = nowMs;
      const restMs = nowMs - this.#restSinceMs;
      this.#stepsMsMax = restMs < turnMaxMs ? this.#options.sliceMs : Math.min(restMs, grownSliceMaxMs);
    }
    this.#steps--;
    this.#stepsLeft--;
    const isOver = nowMs - this.#steppedMs >= this.#stepsMsMax;
    const hasGone = !isOver && this.#hasPending && this.#letOneGo();
    if (this.#stepsLeft > 0) return;
    this.#restSinceMs = this.#clock.monotonicMs();
    // Requests that cannot run now are retried when a seat is released.
    if (isOver || hasGone) this.#askForSteps(Math.min(this.#waiting + this.#unhandled, stepsMax));
  };

  #letOneGo(): boolean {
    const tenant = this.#order.first(
      (one) => !this.#isHeld(one) && (one.backlog.count > 0 || this.#nextOf(one) !== undefined),
    );
    if (!tenant) return false;
    this.#order.serve(tenant);
    const flow = tenant.backlog.hasPrivileged ? undefined : this.#nextOf(tenant);
    if (flow) this.#letGo(tenant, flow);
    else this.#handleOne(tenant);
    return true;
  }

  /** Undefined: no waiting request of the tenant can run. */
  #nextOf(tenant: TenantQueue): Flow | undefined {
    if (tenant.waiting === 0 || this.#seats.areTaken || !this.#seats.isFreeFor(tenant, false)) return undefined;
    return tenant.next(({ isMutating }) => this.#seats.isFreeFor(tenant, isMutating));
  }

  #letGo(tenant: TenantQueue, flow: Flow): void {
    const waiting = tenant.take(flow);
    this.#waiting--;
    if (!tenant.hasPending) this.#order.remove(tenant);
    this.#seats.take(tenant, waiting.isMutating);
    flow.level.seats++;
    this.#runs(tenant, flow);
    waiting.go(flow);
  }

  #handleOne(tenant: TenantQueue): void {
    const handle = tenant.backlog.take();
    assert(handle, 'no request is in this backlog');
    this.#unhandled--;
    if (!tenant.hasPending) this.#order.remove(tenant);
    this.#served = tenant;
    handle();
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

/**
 * The waiting requests of one tenant: in priority levels, and within a level in FIFO flows. Levels and flows take turns by the time they
 * received, levels in proportion to their shares. Empty flows are deleted.
 */

import { assert } from '@hangar/core';
import { Backlog } from './backlog.ts';
import { FairOrder } from './fair-order.ts';
import type { Ranked } from './fair-order.ts';
import type { PriorityLevel } from './flow-control/priority-level.ts';
import type { Holder } from './seats.ts';

/** Priority level and flow of a request. */
export interface Place {
  readonly level: PriorityLevel;
  /** Name of the flow within the level; requests of a flow are served in order. */
  readonly flow: string;
  /** Metric labels. */
  readonly labels: string;
}

/** Seats of each level by name, when all levels are busy. */
export type LevelSeats = ReadonlyMap<string, { readonly nominal: number; readonly lendable: number }>;

export interface Waiting {
  readonly place: Place;
  readonly isMutating: boolean;
  readonly sinceMs: number;
  /** True: the client disconnected or the request was removed. */
  isGone: boolean;
  go(flow: Flow): void;
  refuse(): void;
}

export class Flow implements Ranked {
  rank = 0;
  position = -1;
  readonly weight = 1;
  readonly level: Level;
  readonly name: string;
  #queue: Waiting[] = [];
  waiting = 0;

  constructor(level: Level, name: string) {
    this.level = level;
    this.name = name;
  }

  push(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.waiting++;
  }

  /** Undefined: no request waits. */
  get head(): Waiting | undefined {
    while (this.#queue[0]?.isGone) this.#queue.shift();
    return this.#queue[0];
  }

  takeHead(): Waiting {
    const { head } = this;
    assert(head, 'no request waits in this flow');
    this.#queue.shift();
    return head;
  }

  /** Queue length, including removed requests. */
  get kept(): number {
    return this.#queue.length;
  }

  /** Drops removed requests that are queued behind a long wait. */
  tidy(): void {
    if (this.#queue.length > 2 * this.waiting + 16) this.#queue = this.#queue.filter(({ isGone }) => !isGone);
  }
}

export class Level implements Ranked {
  rank = 0;
  position = -1;
  readonly name: string;
  readonly flows = new Map<string, Flow>();
  readonly order = new FairOrder<Flow>();
  readonly isExempt: boolean;
  waiting = 0;
  /** Seats of running requests, without those that started before they were classified. */
  seats = 0;

  /** Current state of its object; only `isExempt` never changes. */
  given: PriorityLevel;

  constructor(given: PriorityLevel) {
    this.name = given.name;
    this.isExempt = given.isExempt;
    this.given = given;
  }

  get weight(): number {
    return this.isExempt ? Infinity : Math.max(this.given.shares, 0.1);
  }
}

const debtMaxMs = 20;
/** Debt paid per millisecond of received time. */
const debtPace = 3;

export class TenantQueue implements Ranked, Holder {
  readonly name: string;
  rank = 0;
  position = -1;
  readonly weight = 1;
  seats = 0;
  mutatingSeats = 0;
  waiting = 0;
  /** Epoch of its rank, see `FairQueue`. */
  epoch = -1;
  /** Turn of the loop that `usedMs` belongs to. */
  turn = -1;
  usedMs = 0;
  /** Time of the event loop since the queue was created. */
  totalMs = 0;
  /** Received time that is not part of the rank yet. */
  debtMs = 0;
  /** Its requests wait until this time, because it blocked the loop. */
  heldUntilMs = 0;
  /** A timer is set for `heldUntilMs`. */
  isWoken = false;
  /** The management plane, which is never held. */
  readonly isPlatform: boolean;
  readonly backlog = new Backlog();
  readonly #levels = new Map<string, Level>();
  readonly #order = new FairOrder<Level>();
  #levelSeats: LevelSeats = new Map();

  constructor(name: string, isPlatform = false) {
    this.name = name;
    this.isPlatform = isPlatform;
  }

  /** Reports whether requests wait, or were received and not handled yet. */
  get hasPending(): boolean {
    return this.waiting > 0 || this.backlog.count > 0;
  }

  /**
   * Returns the part of the received time to charge now. Time beyond a slice becomes a debt that is paid gradually; debt above a limit is
   * charged at once, so that expensive requests are paid in full. A pause of the whole process (garbage collection, other programs) during
   * a request is not caused by the tenant, and must not put it behind tenants that flood.
   */
  owes(givenMs: number, sliceMs: number): number {
    const nowMs = Math.min(givenMs, sliceMs);
    const laterMs = Math.min(this.debtMs, nowMs * debtPace);
    const debtMs = this.debtMs + givenMs - nowMs - laterMs;
    this.debtMs = Math.min(debtMs, debtMaxMs);
    return nowMs + laterMs + debtMs - this.debtMs;
  }

  /** Applies the current levels of the control plane. */
  use(levelSeats: LevelSeats): void {
    this.#levelSeats = levelSeats;
    for (const [name, level] of this.#levels) {
      if (level.waiting === 0 && level.seats === 0) this.#levels.delete(name);
    }
  }

  hasRoomFor({ level: given, flow }: Place): boolean {
    if (given.isExempt) return true;
    const level = this.level(given);
    const { queuing } = given;
    if (!queuing) return level.seats + level.waiting < this.#seatsOf(level);
    return level.waiting < queuing.max && (level.flows.get(flow)?.waiting ?? 0) < queuing.ofFlowMax;
  }

  level(given: PriorityLevel): Level {
    let level = this.#levels.get(given.name);
    if (!level) this.#levels.set(given.name, (level = new Level(given)));
    level.given = given;
    return level;
  }

  push(waiting: Waiting): void {
    const { place } = waiting;
    const level = this.level(place.level);
    let flow = level.flows.get(place.flow);
    if (!flow) level.flows.set(place.flow, (flow = new Flow(level, place.flow)));
    flow.push(waiting);
    level.waiting++;
    this.waiting++;
    level.order.add(flow);
    this.#order.add(level);
  }

  /** Returns the flow whose first request is next, among those for which `can` is true. Has no side effects. */
  next(can: (waiting: Waiting) => boolean): Flow | undefined {
    const canGo = (flow: Flow): boolean => flow.head !== undefined && can(flow.head);
    const level = this.#order.first((one) => this.hasSeat(one) && one.order.first(canGo) !== undefined);
    return level?.order.first(canGo);
  }

  /** Removes and returns the first request of the flow. */
  take(flow: Flow): Waiting {
    const waiting = flow.takeHead();
    this.#order.serve(flow.level);
    flow.level.order.serve(flow);
    this.#forget(flow);
    return waiting;
  }

  /** Removes a waiting request. */
  drop(waiting: Waiting): void {
    const flow = this.#levels.get(waiting.place.level.name)?.flows.get(waiting.place.flow);
    if (!flow || waiting.isGone) return;
    waiting.isGone = true;
    this.#forget(flow);
    flow.tidy();
  }

  /** Removes and returns the requests that have waited since before `sinceMs`. */
  takeOlder(sinceMs: number): Waiting[] {
    const found: Waiting[] = [];
    for (const { flows } of this.#levels.values()) {
      for (const flow of flows.values()) {
        for (let head = flow.head; head && head.sinceMs < sinceMs; head = flow.head) {
          found.push(head);
          this.drop(head);
        }
      }
    }
    return found;
  }

  /** Charges a flow and its level. */
  charge(flow: Flow, amount: number): void {
    flow.level.order.charge(flow, amount);
    this.#order.charge(flow.level, amount);
  }

  #forget(flow: Flow): void {
    const { level } = flow;
    flow.waiting--;
    level.waiting--;
    this.waiting--;
    if (flow.waiting === 0) {
      level.order.remove(flow);
      level.flows.delete(flow.name);
    }
    if (level.waiting === 0) this.#order.remove(level);
  }

  hasSeat(level: Level): boolean {
    return level.isExempt || level.seats < this.#seatsOf(level);
  }

  /** Returns the seats of the level, including unused seats that others lend. */
  #seatsOf({ name, given: { borrowable }, seats, waiting }: Level): number {
    const own = this.#levelSeats.get(name)?.nominal ?? Infinity;
    if (seats + waiting < own) return own;
    let lent = 0;
    for (const [other, { nominal, lendable }] of this.#levelSeats) {
      if (other !== name) lent += Math.min(lendable, Math.max(0, nominal - (this.#levels.get(other)?.seats ?? 0)));
    }
    // As in kube-apiserver: a level without running requests may run one.
    return Math.max(1, own + (borrowable === Infinity ? lent : Math.min(lent, own * borrowable)));
  }
}

/**
 * Those of one tenant who wait: in priority levels, and within a level in flows, first in, first out. Levels and flows take
 * turns by what they were given, levels by their shares. Flows in which nobody waits are forgotten.
 */

import { assert } from '@hangar/core';
import { FairOrder } from './fair-order.ts';
import type { Ranked } from './fair-order.ts';
import type { PriorityLevel } from './flow-control/priority-level.ts';
import type { Holder } from './seats.ts';

/** Where a request belongs. */
export interface Place {
  readonly level: PriorityLevel;
  /** Within the level: what is waited for in order. */
  readonly flow: string;
  /** Of metrics. */
  readonly labels: string;
}

/** Seats of each level by its name, while all of them are at work. */
export type LevelSeats = ReadonlyMap<string, { readonly nominal: number; readonly lendable: number }>;

export interface Waiting {
  readonly place: Place;
  readonly isMutating: boolean;
  readonly sinceMs: number;
  /** Its client did not wait. */
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

  /** Undefined: nobody waits. */
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

  /** With those who are gone. */
  get kept(): number {
    return this.#queue.length;
  }

  /** Whoever comes and goes behind one who waits long is not kept. */
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
  /** Of requests that are under way; those that went on before anybody knew where they belong are not counted. */
  seats = 0;

  /** As its object says now; only whether it is exempt can never change. */
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
/** So much is paid of it for every millisecond that is given. */
const debtPace = 3;

export class TenantQueue implements Ranked, Holder {
  readonly name: string;
  rank = 0;
  position = -1;
  readonly weight = 1;
  seats = 0;
  mutatingSeats = 0;
  waiting = 0;
  /** Since when its rank counts, see `FairQueue`. */
  epoch = -1;
  /** What it was given of the loop's turn with this number. */
  turn = -1;
  usedMs = 0;
  /** Of time that it was given and that is not in its rank yet. */
  debtMs = 0;
  /** Its requests wait until this time, because it blocked the loop. */
  heldUntilMs = 0;
  /** A timer is set for `heldUntilMs`. */
  isWoken = false;
  /** The management plane: it is never held. */
  readonly isPlatform: boolean;
  readonly #levels = new Map<string, Level>();
  readonly #order = new FairOrder<Level>();
  #levelSeats: LevelSeats = new Map();

  constructor(name: string, isPlatform = false) {
    this.name = name;
    this.isPlatform = isPlatform;
  }

  /**
   * How much of what it was given counts now. What is more than a slice is a debt, paid little by little, and at once beyond
   * a bound: whoever asks for much pays all of it. But a pause of the whole process (for garbage, for other programs) that
   * happens to be in the midst of a request is nobody's, and must not put a tenant behind everybody who floods.
   */
  owes(givenMs: number, sliceMs: number): number {
    const nowMs = Math.min(givenMs, sliceMs);
    const laterMs = Math.min(this.debtMs, nowMs * debtPace);
    const debtMs = this.debtMs + givenMs - nowMs - laterMs;
    this.debtMs = Math.min(debtMs, debtMaxMs);
    return nowMs + laterMs + debtMs - this.debtMs;
  }

  /** As the control plane's objects say now. */
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

  /** Whose first is next, of those who can. Nothing changes by being asked. */
  next(can: (waiting: Waiting) => boolean): Flow | undefined {
    const canGo = (flow: Flow): boolean => flow.head !== undefined && can(flow.head);
    const level = this.#order.first((one) => this.hasSeat(one) && one.order.first(canGo) !== undefined);
    return level?.order.first(canGo);
  }

  /** Its first; it no longer waits. */
  take(flow: Flow): Waiting {
    const waiting = flow.takeHead();
    this.#order.serve(flow.level);
    flow.level.order.serve(flow);
    this.#forget(flow);
    return waiting;
  }

  /** It does not wait any more. */
  drop(waiting: Waiting): void {
    const flow = this.#levels.get(waiting.place.level.name)?.flows.get(waiting.place.flow);
    if (!flow || waiting.isGone) return;
    waiting.isGone = true;
    this.#forget(flow);
    flow.tidy();
  }

  /** Those who have waited since before `sinceMs`; they no longer do. */
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

  /** For what was given to one flow. */
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

  /** Its own, and what others lend and do not need. */
  #seatsOf({ name, given: { borrowable }, seats, waiting }: Level): number {
    const own = this.#levelSeats.get(name)?.nominal ?? Infinity;
    if (seats + waiting < own) return own;
    let lent = 0;
    for (const [other, { nominal, lendable }] of this.#levelSeats) {
      if (other !== name) lent += Math.min(lendable, Math.max(0, nominal - (this.#levels.get(other)?.seats ?? 0)));
    }
    // As kube-apiserver: where nothing is under way, one request may be.
    return Math.max(1, own + (borrowable === Infinity ? lent : Math.min(lent, own * borrowable)));
  }
}

/**
 * Those of one tenant who wait: in priority levels, and within a level in flows, first in, first out. Levels and flows take
 * turns by what they were given, levels by their shares. Flows in which nobody waits are forgotten.
 */

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
  readonly queue: Waiting[] = [];
  /** Without those who are gone. */
  waiting = 0;

  constructor(level: Level, name: string) {
    this.level = level;
    this.name = name;
  }

  /** Undefined: nobody waits. */
  get head(): Waiting | undefined {
    while (this.queue[0]?.isGone) this.queue.shift();
    return this.queue[0];
  }
}

export class Level implements Ranked {
  rank = 0;
  position = -1;
  readonly weight: number;
  readonly name: string;
  readonly flows = new Map<string, Flow>();
  readonly order = new FairOrder<Flow>();
  readonly isExempt: boolean;
  readonly borrowable: number;
  waiting = 0;
  /** Of requests that are under way; those that went on before anybody knew where they belong are not counted. */
  seats = 0;

  constructor({ name, isExempt, shares, borrowable }: PriorityLevel) {
    this.name = name;
    this.isExempt = isExempt;
    this.borrowable = borrowable;
    this.weight = isExempt ? Infinity : Math.max(shares, 0.1);
  }
}

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
  readonly #levels = new Map<string, Level>();
  readonly #order = new FairOrder<Level>();
  #levelSeats: LevelSeats = new Map();

  constructor(name: string) {
    this.name = name;
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
    return level;
  }

  push(waiting: Waiting): void {
    const { place } = waiting;
    const level = this.level(place.level);
    let flow = level.flows.get(place.flow);
    if (!flow) level.flows.set(place.flow, (flow = new Flow(level, place.flow)));
    flow.queue.push(waiting);
    flow.waiting++;
    level.waiting++;
    this.waiting++;
    level.order.add(flow);
    this.#order.add(level);
  }

  /** Who is next of those who can; it no longer waits. */
  take(can: (waiting: Waiting) => boolean): { waiting: Waiting; flow: Flow } | undefined {
    const hasHead = (flow: Flow): boolean => flow.head !== undefined && can(flow.head);
    let flow: Flow | undefined;
    this.#order.first((level) => {
      if (!this.hasSeat(level)) return false;
      flow = level.order.first(hasHead);
      return flow !== undefined;
    });
    if (!flow) return undefined;
    const waiting = flow.queue.shift()!;
    this.#forget(flow);
    return { waiting, flow };
  }

  /** It does not wait any more. */
  drop(waiting: Waiting): void {
    const flow = this.#levels.get(waiting.place.level.name)?.flows.get(waiting.place.flow);
    if (!flow || waiting.isGone) return;
    waiting.isGone = true;
    this.#forget(flow);
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
  #seatsOf({ name, borrowable, seats, waiting }: Level): number {
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

/** Sees every dispatch and every write of every peer at the instant at which it happens, with the right to look into all of them. */

import type { Ownership } from '../../contract.ts';
import type { Scheduler } from '@hangar/core/simulation';
import type { PeerProcess } from './peer-process.ts';
import type { Trace } from './trace.ts';

/** A right that a process was given. */
export interface Hold {
  readonly process: PeerProcess;
  readonly cluster: string;
  readonly ownership: Ownership;
}

/** Work under way by that right. */
export interface Work {
  readonly hold: Hold;
  readonly beganMs: number;
}

export class Checker {
  readonly #world: Scheduler;
  readonly #trace: Trace;
  readonly #holds = new Map<string, Hold[]>();
  readonly #works = new Map<string, Set<Work>>();
  /** When a process of this name was last declared dead, or its lease was taken away. */
  readonly #endedMs = new Map<string, number>();
  readonly #landed = new Map<string, Hold>();
  readonly #lastDispatchMs = new Map<string, number>();
  dispatches = 0;
  writes = 0;

  constructor(world: Scheduler, trace: Trace) {
    this.#world = world;
    this.#trace = trace;
  }

  acquired(hold: Hold): void {
    this.#trace.note(`${hold.process.name} has ${hold.cluster}, token ${hold.ownership.token}`);
    // Rights that have ended for good need not be looked at again.
    const others = (this.#holds.get(hold.cluster) ?? []).filter(
      (one) => !one.process.isDead && (!one.ownership.signal.aborted || passes(one)),
    );
    this.#holds.set(hold.cluster, [...others, hold]);
  }

  dispatched(hold: Hold): Work {
    this.dispatches++;
    this.#lastDispatchMs.set(hold.cluster, this.#world.monotonicMs());
    this.#alone(hold, 'dispatches');
    const works = this.#works.get(hold.cluster) ?? new Set();
    this.#works.set(hold.cluster, works);
    for (const { hold: other, beganMs } of works) {
      if (other.process === hold.process || other.process.isDead) continue;
      // Whoever was declared dead has no right any more, and every write of it is refused; that it still tries cannot be helped.
      if ((this.#endedMs.get(other.process.name) ?? -1) >= beganMs) continue;
      this.#trace.fail('drained', `${hold.process.name} works on ${hold.cluster}, ${other.process.name} still does`);
    }
    const work = { hold, beganMs: this.#world.monotonicMs() };
    works.add(work);
    return work;
  }

  /** Its check has passed; it is on its way. */
  wrote({ hold }: Work): void {
    this.writes++;
    this.#alone(hold, 'writes to');
  }

  landed({ hold }: Work): void {
    const last = this.#landed.get(hold.cluster);
    const { token } = hold.ownership;
    if (last && last.ownership !== hold.ownership) {
      const isOther = last.process !== hold.process;
      if (token < last.ownership.token || (isOther && token === last.ownership.token)) {
        this.#trace.fail(
          'growing',
          `${hold.process.name} writes to ${hold.cluster} with token ${token} after ${last.process.name} with ${last.ownership.token}`,
        );
      }
    }
    this.#landed.set(hold.cluster, hold);
  }

  finished(work: Work): void {
    this.#works.get(work.hold.cluster)?.delete(work);
  }

  ended(name: string): void {
    this.#endedMs.set(name, this.#world.monotonicMs());
  }

  /** Who may work on it now. */
  owners(cluster: string): Hold[] {
    return (this.#holds.get(cluster) ?? []).filter((hold) => !hold.process.isDead && passes(hold));
  }

  lastDispatchMs(cluster: string): number {
    return this.#lastDispatchMs.get(cluster) ?? -Infinity;
  }

  #alone(hold: Hold, does: string): void {
    for (const other of this.owners(hold.cluster)) {
      if (other.process === hold.process) continue;
      this.#trace.fail('exclusive', `${hold.process.name} ${does} ${hold.cluster}, ${other.process.name} may, too`);
    }
  }
}

/** Also of a process that is stopped: it may go on at any instant. */
function passes({ ownership }: Hold): boolean {
  try {
    ownership.check();
    return true;
  } catch {
    return false;
  }
}

/** Observes every dispatch and every write of every peer at the instant at which it happens, with access to the state of all of them. */

import type { Ownership } from '../../contract.ts';
import type { Scheduler } from '@hangar/core/simulation';
import type { PeerProcess } from './peer-process.ts';
import type { Trace } from './trace.ts';

/** An ownership that a process acquired. */
export interface Hold {
  readonly process: PeerProcess;
  readonly cluster: string;
  readonly ownership: Ownership;
}

/** Running work under that ownership. */
export interface Work {
  readonly hold: Hold;
  readonly beganMs: number;
}

export class Checker {
  readonly #world: Scheduler;
  readonly #trace: Trace;
  readonly #holds = new Map<string, Hold[]>();
  readonly #works = new Map<string, Set<Work>>();
  /** Time at which a process of this name was last declared dead, or its lease was deleted. */
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
    // Ownerships that ended for good are skipped.
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
      // All writes of a peer that was declared dead are rejected; that it still tries is expected.
      if ((this.#endedMs.get(other.process.name) ?? -1) >= beganMs) continue;
      this.#trace.fail('drained', `${hold.process.name} works on ${hold.cluster}, ${other.process.name} still does`);
    }
    const work = { hold, beganMs: this.#world.monotonicMs() };
    works.add(work);
    return work;
  }

  /** Called when the write has passed its check and is in flight. */
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

  /** Returns the current owners. */
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

/** Includes suspended processes: they may resume at any instant. */
function passes({ ownership }: Hold): boolean {
  try {
    ownership.check();
    return true;
  } catch {
    return false;
  }
}

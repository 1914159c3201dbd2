/**
 * Declares peers with expired leases dead, and deletes the leases of peers that are gone. The declaration is a write to the lease of the
 * dead peer, conditional on the version that is unchanged for so long: a renewal in between makes it fail, and no renewal succeeds after
 * it. Only then is the peer over.
 */

import { hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { Alarm } from './alarm.ts';
import { bounded } from '../../bounded.ts';
import type { SeenPeer } from './group-view.ts';
import { leaseSpec } from './lease-spec.ts';
import { recordAnnotation } from './leases.ts';
import type { Leases } from './leases.ts';
import { encodeRecord } from './peer-record.ts';
import type { Observer, Protocol } from './protocol.ts';
import type { ShardTimings } from './timings.ts';

export interface ReaperOptions {
  readonly leases: Leases;
  readonly protocol: Protocol;
  readonly timings: ShardTimings;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly signal: AbortSignal;
  readonly self: { readonly name: string; readonly id: string };
  readonly observer: () => Observer;
  /** Only a peer with a valid lease may declare others dead. */
  readonly isAlive: () => boolean;
  readonly rank: () => number;
  readonly onWrite: () => void;
}

const turnMs = 60;

export class Reaper {
  readonly #options: ReaperOptions;
  readonly #alarm: Alarm;
  readonly #busy = new Set<string>();

  constructor(options: ReaperOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock, () => this.#look());
    options.signal.addEventListener('abort', () => this.#alarm.cancel(), { once: true });
  }

  onView(): void {
    const { observer, self, signal, rank, isAlive } = this.#options;
    if (signal.aborted || !isAlive()) return;
    const { view, nowMs } = observer();
    for (const { record, seenAtMs } of view.peers.values()) {
      if (record.name === self.name || record.state === 'gone' || this.#busy.has(record.name)) continue;
      // Staggered by rank: usually the first peer has done it before the second starts.
      this.#alarm.within(Math.max(turnMs, seenAtMs + record.leaseMs - nowMs) + rank() * turnMs);
    }
    if (rank() === 0) for (const peer of view.peers.values()) if (this.#isForgotten(peer)) void this.#clear(peer);
  }

  #look(): void {
    const { observer, self, isAlive, protocol } = this.#options;
    const now = observer();
    for (const peer of now.view.peers.values()) {
      if (peer.record.name !== self.name && isAlive() && protocol.isLate(peer, now)) void this.#declareDead(peer);
    }
    this.onView();
  }

  #isForgotten({ record }: SeenPeer): boolean {
    const { ringObject, ring } = this.#options.observer().view;
    if (record.state !== 'gone' || !ring || ringObject?.content?.epoch !== ring.epoch) return false;
    return ![ring, ...ring.history].some(({ members }) => members.some(({ name }) => name === record.name));
  }

  #declareDead({ record, leaseName, resourceVersion }: SeenPeer): Promise<void> {
    const { leases, self, timings, clock, onWrite, log } = this.#options;
    return this.#once(record.name, async (signal) => {
      log?.warn('peer did not renew its lease: declared dead', { peer: record.name, silentMs: record.leaseMs });
      onWrite();
      const dead = encodeRecord({ ...record, state: 'gone', endedBy: self.id, draining: [], heldCount: 0 });
      const spec = leaseSpec({ holder: self.name, leaseMs: timings.leaseMs, wallMs: clock.now() });
      await leases.write({ name: leaseName, resourceVersion, annotations: { [recordAnnotation]: dead }, spec }, signal);
    });
  }

  #clear({ record, leaseName, resourceVersion }: SeenPeer): Promise<void> {
    return this.#once(record.name, async (signal) => {
      this.#options.onWrite();
      await this.#options.leases.remove(leaseName, resourceVersion, signal);
    });
  }

  /** Skips actions that already run; the view shows the result. */
  async #once(name: string, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, timings, signal, log } = this.#options;
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    try {
      await bounded({ clock, timeoutMs: timings.requestTimeoutMs, signal }, act);
    } catch (error) {
      if (signal.aborted || hasCode(error, 'Conflict') || hasCode(error, 'NotFound')) return;
      log?.warn('failed to update the lease of a dead peer', { peer: name, error });
    } finally {
      this.#busy.delete(name);
      if (!signal.aborted) this.#alarm.within(timings.requestTimeoutMs);
    }
  }
}

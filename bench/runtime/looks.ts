/** Collects which peer looked at which cluster, and when, from several processes. They share the clock of this machine. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Look } from './programs/peer.ts';

interface Seen {
  readonly peer: string;
  readonly beginMs: number;
  readonly endMs: number;
}

const pollMs = 20;
const withinMs = 120_000;

export class Looks {
  readonly #byCluster: Map<string, Seen[]>;
  count = 0;

  constructor(clusters: readonly string[]) {
    this.#byCluster = new Map(clusters.map((name) => [name, []]));
  }

  nowMs(): number {
    return performance.timeOrigin + performance.now();
  }

  add(peer: string, looks: readonly Look[]): void {
    for (const [cluster, beginMs, endMs] of looks) this.#byCluster.get(cluster)!.push({ peer, beginMs, endMs });
    this.count += looks.length;
  }

  /** Resolves when every cluster was looked at, and none has changed its peer for this long. */
  async calm(forMs: number): Promise<void> {
    const beginMs = this.nowMs();
    await this.#until('shared', () => {
      const nowMs = this.nowMs();
      const isSeen = [...this.#byCluster.values()].every((seen) => (seen.at(-1)?.endMs ?? 0) > nowMs - forMs);
      return isSeen && nowMs - Math.max(beginMs, this.lastMoveMs()) >= forMs;
    });
  }

  /** Number of clusters that each peer looked at last, sorted by name of the peer. */
  held(): Map<string, number> {
    const held = new Map<string, number>();
    for (const seen of this.#byCluster.values()) {
      const peer = latest(seen)?.peer;
      if (peer !== undefined) held.set(peer, (held.get(peer) ?? 0) + 1);
    }
    return new Map([...held].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  heldBy(peer: string): string[] {
    return [...this.#byCluster].filter(([, seen]) => latest(seen)?.peer === peer).map(([cluster]) => cluster);
  }

  /** When the last cluster was looked at for the first time. */
  firstLooksMs(): number {
    return Math.max(...Array.from(this.#byCluster.values(), (seen) => Math.min(...seen.map(({ beginMs }) => beginMs))));
  }

  /** When a cluster was last looked at by a new peer. */
  lastMoveMs(): number {
    let lastMs = 0;
    for (const seen of this.#byCluster.values()) {
      const sorted = inOrder(seen);
      for (let at = sorted.length - 1; at >= 0; at--) {
        if (sorted[at]!.peer === sorted[at - 1]?.peer) continue;
        lastMs = Math.max(lastMs, sorted[at]!.beginMs);
        break;
      }
    }
    return lastMs;
  }

  /** When a peer other than `peer` had looked at the last of these. */
  async lookedAtByOthers(clusters: readonly string[], peer: string, sinceMs: number): Promise<number> {
    const firstOf = (cluster: string): number | undefined =>
      inOrder(this.#byCluster.get(cluster)!).find((one) => one.peer !== peer && one.beginMs >= sinceMs)?.beginMs;
    await this.#until('taken over', () => clusters.every((cluster) => firstOf(cluster) !== undefined));
    return Math.max(...clusters.map((cluster) => firstOf(cluster)!));
  }

  overlaps(): number {
    let count = 0;
    for (const seen of this.#byCluster.values()) {
      const sorted = inOrder(seen);
      for (let at = 1; at < sorted.length; at++) {
        const [before, after] = [sorted[at - 1]!, sorted[at]!];
        if (before.peer !== after.peer && after.beginMs < before.endMs) count++;
      }
    }
    return count;
  }

  async #until(what: string, isSo: () => boolean): Promise<void> {
    for (const endMs = this.nowMs() + withinMs; !isSo(); await sleep(pollMs)) {
      if (this.nowMs() > endMs) throw new Error(`not ${what} within ${withinMs / 1_000} s`);
    }
  }
}

const inOrder = (seen: Seen[]): Seen[] => seen.sort((one, other) => one.beginMs - other.beginMs);
const latest = (seen: Seen[]): Seen | undefined => inOrder(seen).at(-1);

/**
 * The state of the group as this process observes it: the leases of one watch, which are a consistent state of the past, and for how long
 * each is unchanged on the local clock.
 */

import type { WatchEvent } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { recordAnnotation, ringAnnotation } from './leases.ts';
import type { Lease } from './leases.ts';
import { decodeRecord, unreadableRecord } from './peer-record.ts';
import type { PeerRecord } from './peer-record.ts';
import { decodeRing } from './ring.ts';
import type { Ring } from './ring.ts';

export interface SeenPeer {
  readonly record: PeerRecord;
  readonly leaseName: string;
  readonly resourceVersion: string;
  /** Local monotonic time at which this version was observed first. */
  readonly seenAtMs: number;
  /** Wall clock of the peer; informational only. */
  readonly renewTime: string | undefined;
}

/** The object of the ring, which may be unreadable. */
export interface SeenRing {
  readonly resourceVersion: string;
  readonly content: Ring | undefined;
}

export interface GroupNames {
  /** Name of the Lease of the ring. */
  readonly ring: string;
  /** Prefix of the names of peer leases. */
  readonly peerPrefix: string;
  /** Validity of a lease that cannot be decoded. */
  readonly unreadableLeaseMs: number;
}

export class GroupView {
  readonly #clock: Clock;
  readonly #names: GroupNames;
  readonly #peers = new Map<string, SeenPeer>();
  readonly #absentSinceMs = new Map<string, number>();
  #ringObject: SeenRing | undefined;
  #ring: Ring | undefined;
  #listedAtMs: number | undefined;
  #isOutOfTouch = false;
  #epochMax = 0;
  #ringOfAbsent: Ring | undefined;

  constructor(clock: Clock, names: GroupNames) {
    this.#clock = clock;
    this.#names = names;
  }

  /** Reports whether the first list has completed. */
  get isListed(): boolean {
    return this.#listedAtMs !== undefined;
  }

  /** Returns the time since the first list; 0 before it. */
  get listedForMs(): number {
    return this.#listedAtMs === undefined ? 0 : this.#clock.monotonicMs() - this.#listedAtMs;
  }

  /** By name of the peer, including `gone` ones. */
  get peers(): ReadonlyMap<string, SeenPeer> {
    return this.#peers;
  }

  get ringObject(): SeenRing | undefined {
    return this.#ringObject;
  }

  /**
   * The newest ring observed; stays when the object is deleted or damaged. Its epoch never decreases: a recreated ring with a lower epoch
   * is ignored until a peer has raised it.
   */
  get ring(): Ring | undefined {
    return this.#ring;
  }

  /** Highest epoch that any peer has reported. Tokens must grow even when the ring is lost. */
  get epochMax(): number {
    return this.#epochMax;
  }

  /** Returns for how long no lease of that name exists, for members of the ring or its history. */
  absentMs(name: string): number {
    return this.#clock.monotonicMs() - (this.#absentSinceMs.get(name) ?? Infinity);
  }

  /** Called when the server could not be reached for long. */
  loseTouch(): void {
    this.#isOutOfTouch = true;
  }

  /** Called when the server is reachable again: peers were not late while they could not be observed. */
  regainTouch(): void {
    if (!this.#isOutOfTouch) return;
    this.#isOutOfTouch = false;
    const seenAtMs = this.#clock.monotonicMs();
    for (const [name, peer] of this.#peers) this.#peers.set(name, { ...peer, seenAtMs });
  }

  replace(leases: readonly Lease[]): void {
    const names = new Set(leases.map(({ metadata }) => metadata.name));
    for (const [peer, { leaseName }] of this.#peers) if (!names.has(leaseName)) this.#forget(peer);
    if (!names.has(this.#names.ring)) this.#ringObject = undefined;
    for (const lease of leases) this.#see(lease);
    this.#listedAtMs ??= this.#clock.monotonicMs();
    this.#noteAbsent();
  }

  apply(event: WatchEvent<Lease>): void {
    if (event.type === 'BOOKMARK') return;
    const { name } = event.object.metadata;
    if (event.type !== 'DELETED') this.#see(event.object);
    else if (name === this.#names.ring) this.#ringObject = undefined;
    else for (const [peer, { leaseName }] of this.#peers) if (leaseName === name) this.#forget(peer);
    this.#noteAbsent();
  }

  /** A lease of a member existed once: its absence counts from now at the latest. */
  #noteAbsent(): void {
    if (!this.#ring || this.#ring === this.#ringOfAbsent) return;
    this.#ringOfAbsent = this.#ring;
    const entries = [this.#ring, ...this.#ring.history];
    const spokenOf = new Set(entries.flatMap(({ members }) => members.map(({ name }) => name)));
    for (const name of this.#absentSinceMs.keys()) if (!spokenOf.has(name)) this.#absentSinceMs.delete(name);
    for (const name of spokenOf) {
      if (this.#peers.has(name) || this.#absentSinceMs.has(name)) continue;
      this.#absentSinceMs.set(name, this.#clock.monotonicMs());
    }
  }

  #forget(peer: string): void {
    this.#peers.delete(peer);
    this.#absentSinceMs.set(peer, this.#clock.monotonicMs());
  }

  #see({ metadata, spec }: Lease): void {
    const { name: leaseName = '', resourceVersion = '', annotations } = metadata;
    if (leaseName === this.#names.ring)
      return this.#seeRing(resourceVersion, decodeRing(annotations?.[ringAnnotation]));
    if (!leaseName.startsWith(this.#names.peerPrefix)) return;
    const name = leaseName.slice(this.#names.peerPrefix.length);
    const before = this.#peers.get(name);
    if (before?.resourceVersion === resourceVersion) return;
    // An unreadable record leaves the known one unchanged.
    const record =
      decodeRecord(annotations?.[recordAnnotation], name) ??
      before?.record ??
      unreadableRecord(name, this.#names.unreadableLeaseMs);
    this.#absentSinceMs.delete(name);
    this.#epochMax = Math.max(this.#epochMax, record.epochMax);
    const seenAtMs = this.#clock.monotonicMs();
    this.#peers.set(name, { record, leaseName, resourceVersion, seenAtMs, renewTime: spec?.renewTime });
  }

  #seeRing(resourceVersion: string, content: Ring | undefined): void {
    this.#ringObject = { resourceVersion, content };
    if (!content) return;
    this.#epochMax = Math.max(this.#epochMax, content.epoch);
    const { id, epoch } = this.#ring ?? { id: content.id, epoch: -1 };
    // Same epoch: the history was shortened.
    if (content.epoch > epoch || (content.epoch === epoch && content.id === id)) this.#ring = content;
  }
}

/**
 * Usage that this server has to add to the record of one tenant. It remembers the last known state of the record and updates it from
 * conflicts, so that a write requires no read.
 *
 *     used ──writes──► sent ──written──► in the record
 *      ▲                │
 *      └── conflicted ──┴── lost: the store did not respond. The mark in the next conflict shows whether it was written.
 */

import { absent } from '@hangar/store';
import type { Entry, Revision, Write } from '@hangar/store';
import { decodeIdentity } from '../identity.ts';
import { identityKey, usageKey } from '../layout.ts';
import type { Meter } from './meter.ts';
import { addUsage, decodeUsage, encodeUsage, isNothing, noUsage } from './usage-record.ts';
import type { UsageCounters, UsageRecord } from './usage-record.ts';

interface Marked {
  readonly counters: UsageCounters;
  readonly mark: string;
}

export class Page {
  readonly meter: Meter;
  readonly #prefix: string;
  #identity: Revision;
  #record: UsageCounters = noUsage;
  #revision = absent;
  #sent: Marked | undefined;
  /** Sent, but unknown whether it was written. */
  #lost: Marked | undefined;
  /** Number of times the tenant is open. */
  openings = 0;
  /** The tenant no longer exists, so there is no record to add to. */
  isObsolete = false;

  constructor(meter: Meter, prefix: string, identity: Revision) {
    this.meter = meter;
    this.#prefix = prefix;
    this.#identity = identity;
  }

  get hasSomething(): boolean {
    return !this.isObsolete && (this.#lost !== undefined || this.#sent !== undefined || this.meter.isUsed);
  }

  /** Returns the usage that is not yet in the given record. */
  missingIn({ mark }: UsageRecord): UsageCounters {
    const used = this.meter.counters();
    if (this.#sent?.mark === mark) return used;
    const lost = this.#lost?.mark === mark ? undefined : this.#lost;
    return addUsage(addUsage(used, this.#sent?.counters ?? noUsage), lost?.counters ?? noUsage);
  }

  /**
   * Returns an empty list if there is nothing to add. The writes include their conditions, so that several pages can share one transaction.
   */
  writes(mark: string): Write[] {
    const counters = this.meter.take();
    const added = addUsage(counters, this.#lost?.counters ?? noUsage);
    if (isNothing(added)) return [];
    this.#sent = { counters, mark };
    return [
      { type: 'check', key: identityKey(this.#prefix), expected: this.#identity },
      {
        type: 'put',
        key: usageKey(this.#prefix),
        value: encodeUsage(addUsage(this.#record, added), mark),
        expected: this.#revision,
      },
    ];
  }

  written(revision: Revision): void {
    this.#record = addUsage(addUsage(this.#record, this.#sent!.counters), this.#lost?.counters ?? noUsage);
    this.#revision = revision;
    this.#sent = undefined;
    this.#lost = undefined;
  }

  /** Called when the commit failed. `isInDoubt`: the store may have committed it. */
  failed(isInDoubt: boolean): void {
    const { counters, mark } = this.#sent!;
    this.#sent = undefined;
    if (isInDoubt) this.#lost = { counters: addUsage(counters, this.#lost?.counters ?? noUsage), mark };
    else this.meter.putBack(counters);
  }

  /** Updates the known state from the entries whose conditions failed. */
  learn(conflicts: ReadonlyMap<string, Entry | undefined>): void {
    const [usage, identity] = [usageKey(this.#prefix), identityKey(this.#prefix)];
    if (conflicts.has(usage)) {
      const entry = conflicts.get(usage);
      this.#record = decodeUsage(entry?.value);
      this.#revision = entry?.modRevision ?? absent;
      // Already in the record, or unknown because another server wrote since: nothing is added twice.
      this.#lost = undefined;
    }
    if (!conflicts.has(identity)) return;
    const entry = conflicts.get(identity);
    if (entry && decodeIdentity(entry.value).seed === this.meter.seed) this.#identity = entry.modRevision;
    else this.isObsolete = true;
  }
}

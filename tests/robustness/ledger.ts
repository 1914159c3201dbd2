/**
 * Tracks what a store owes to its writers. Writers report each transaction before they send it and its outcome when they receive it; the
 * ledger replays all transactions in the order of revisions and compares the result with the content of the store after a crash. The
 * comparison is exact: keys, values, revisions and versions, nothing more, nothing less.
 *
 * A transaction with an unknown outcome may have happened or not, as a whole. Its witness (see `plan.ts`) decides.
 */

import { fingerprint, valueOf } from './plan.ts';
import type { Fingerprint, Plan, PlannedWrite } from './plan.ts';

export interface StoredEntry {
  readonly created: number;
  readonly modified: number;
  readonly version: number;
  readonly value: Fingerprint;
}

/** All of a store at one revision. */
export interface StoredState {
  readonly revision: number;
  readonly entries: ReadonlyMap<string, StoredEntry>;
}

interface Intent {
  readonly plan: Plan;
  /** The newest revision that any writer had received when it was sent: its own must be newer. */
  readonly newestKnown: number;
  /** It was missing at the last comparison; a request in flight may appear at the next. */
  late: boolean;
}

interface Happened {
  readonly plan: Plan;
  /** Infinity when it is unknown: a deletion leaves no trace. */
  readonly revision: number;
  /** Number of deleted keys, when it was acknowledged. */
  readonly deleted: number | undefined;
}

export class Ledger {
  #state = new Map<string, StoredEntry>();
  #revision = 0;
  #newestKnown = 0;
  readonly #underWay = new Map<string, Intent>();
  #unknown: Intent[] = [];
  #acknowledged: Happened[] = [];
  readonly counts = { acknowledged: 0, refused: 0, unknown: 0, unknownThatHappened: 0, missing: 0, invented: 0 };
  /** The first few, as text. */
  readonly violations: string[] = [];

  intend(plan: Plan): void {
    this.#underWay.set(plan.id, { plan, newestKnown: this.#newestKnown, late: false });
  }

  acknowledge(id: string, revision: number, deleted: number): void {
    const intent = this.#take(id);
    this.#checkNewer(intent, revision);
    this.#newestKnown = Math.max(this.#newestKnown, revision);
    this.#acknowledged.push({ plan: intent.plan, revision, deleted });
    this.counts.acknowledged++;
  }

  /** The store states that it did not happen: a conflict, or an error that promises so. */
  refuse(id: string): void {
    this.#take(id);
    this.counts.refused++;
  }

  /** An error with an unknown outcome. */
  leaveOpen(id: string): void {
    this.#unknown.push(this.#take(id));
    this.counts.unknown++;
  }

  /** The process with the outcomes has exited. */
  leaveAllOpen(): void {
    for (const id of this.#underWay.keys()) this.leaveOpen(id);
  }

  /**
   * Compares with the content of a store when no transaction is in progress. `mayBeLate`: a request of a dead process can still arrive, as
   * it can at a server.
   */
  compare(stored: StoredState, options: { mayBeLate?: boolean } = {}): void {
    const happened = [...this.#acknowledged, ...this.#settleUnknown(stored, options.mayBeLate ?? false)];
    happened.sort((a, b) => a.revision - b.revision);
    this.#checkRevisions(happened, stored.revision);
    for (const transaction of happened) if (!this.#isExplained(transaction)) this.#play(transaction);
    this.#compareEntries(stored);
    this.#state = new Map(stored.entries);
    this.#revision = stored.revision;
    this.#newestKnown = Math.max(this.#newestKnown, stored.revision);
    this.#acknowledged = [];
  }

  #take(id: string): Intent {
    const intent = this.#underWay.get(id);
    if (!intent) throw new Error(`${id} ended and was never begun`);
    this.#underWay.delete(id);
    return intent;
  }

  #settleUnknown(stored: StoredState, mayBeLate: boolean): Happened[] {
    const open = this.#unknown;
    this.#unknown = [];
    return open.flatMap((intent): Happened[] => {
      const revision = this.#revisionOfUnknown(intent.plan, stored);
      if (revision !== undefined) {
        this.counts.unknownThatHappened++;
        if (revision < Infinity) this.#checkNewer(intent, revision);
        return [{ plan: intent.plan, revision, deleted: undefined }];
      }
      if (mayBeLate && !intent.late) this.#unknown.push({ ...intent, late: true });
      return [];
    });
  }

  #revisionOfUnknown(plan: Plan, stored: StoredState): number | undefined {
    const place = plan.writes.findIndex((write) => write.type !== 'deleteRange' && write.key === plan.witness);
    const write = plan.writes[place]!;
    const entry = stored.entries.get(plan.witness);
    if (write.type === 'put') return entry && entry.value === valueIn(plan, place) ? entry.modified : undefined;
    return entry === undefined ? Infinity : undefined;
  }

  /** Reports whether the key of a deletion was already deleted for another reason: it had nothing to do. */
  #isExplained({ plan, revision }: Happened): boolean {
    return revision === Infinity && !this.#state.has(plan.witness);
  }

  #checkNewer({ plan, newestKnown }: Intent, revision: number): void {
    if (revision > newestKnown) return;
    this.#report('invented', `${plan.id} got revision ${revision} after ${newestKnown} had been given`);
  }

  #checkRevisions(happened: readonly Happened[], current: number): void {
    if (current < this.#revision) this.#report('missing', `the store fell from ${this.#revision} to ${current}`);
    let last = this.#revision;
    for (const { plan, revision } of happened) {
      if (revision === Infinity) continue;
      if (revision <= last) this.#report('invented', `${plan.id} has revision ${revision}, which was given before`);
      if (revision > current) this.#report('missing', `the store is at ${current}, ${plan.id} at ${revision}`);
      last = revision;
    }
  }

  #play({ plan, revision, deleted }: Happened): void {
    let gone = 0;
    plan.writes.forEach((write, place) => {
      if (write.type === 'deleteRange') {
        for (const key of this.#state.keys()) if (key >= write.start && key < write.end) gone += this.#remove(key);
        return;
      }
      this.#checkCondition(plan, write);
      if (write.type === 'delete') gone += this.#remove(write.key);
      else this.#put(write.key, revision, valueIn(plan, place));
    });
    if (deleted !== undefined && deleted !== gone) {
      this.#report('invented', `${plan.id} deleted ${deleted} keys, there were ${gone}`);
    }
  }

  #checkCondition(plan: Plan, write: Exclude<PlannedWrite, { type: 'deleteRange' }>): void {
    const modified = this.#state.get(write.key)?.modified ?? 0;
    if (write.expected === undefined || write.expected === modified) return;
    this.#report('missing', `${plan.id} expected ${write.key} at ${write.expected}, it was at ${modified}`);
  }

  #put(key: string, revision: number, value: Fingerprint): void {
    const before = this.#state.get(key);
    this.#state.set(key, {
      created: before?.created ?? revision,
      modified: revision,
      version: (before?.version ?? 0) + 1,
      value,
    });
  }

  #remove(key: string): number {
    return this.#state.delete(key) ? 1 : 0;
  }

  #compareEntries({ entries }: StoredState): void {
    for (const [key, owed] of this.#state) {
      const found = entries.get(key);
      if (!found) this.#report('missing', `${key} of revision ${owed.modified} is gone`);
      else if (!sameEntry(owed, found)) {
        const kind = found.modified > owed.modified ? 'invented' : 'missing';
        this.#report(kind, `${key} is ${JSON.stringify(found)} instead of ${JSON.stringify(owed)}`);
      }
    }
    for (const [key, found] of entries) {
      if (!this.#state.has(key)) this.#report('invented', `${key} is there: ${JSON.stringify(found)}`);
    }
  }

  #report(kind: 'missing' | 'invented', text: string): void {
    this.counts[kind]++;
    if (this.violations.length < 20) this.violations.push(`${kind}: ${text}`);
  }
}

function valueIn(plan: Plan, place: number): Fingerprint {
  const write = plan.writes[place] as PlannedWrite & { type: 'put' };
  return fingerprint(valueOf(plan.id, place, write.size));
}

function sameEntry(a: StoredEntry, b: StoredEntry): boolean {
  return a.created === b.created && a.modified === b.modified && a.version === b.version && a.value === b.value;
}

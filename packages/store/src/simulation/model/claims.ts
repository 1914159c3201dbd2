/**
 * Attributes transactions to revisions: an answer names the revision of its transaction, and every observed entry names the transaction
 * that wrote it and its revision.
 */

import type { Entry, Revision } from '../../contract.ts';
import type { Findings } from '../findings.ts';
import type { Recorder } from '../recorder.ts';
import type { CommitRecord } from '../records.ts';
import type { Moment } from '../trace.ts';
import type { Universe } from '../universe.ts';
import { signatureOf } from '../values.ts';
import { Violation } from '../violation.ts';

export interface Evidence {
  readonly revision: Revision;
  readonly moment: Moment;
}

export class Claims {
  readonly #commits: readonly CommitRecord[];
  readonly #findings: Findings;
  readonly byRevision = new Map<Revision, CommitRecord>();
  readonly #evidence = new Map<CommitRecord, Evidence>();

  constructor(commits: readonly CommitRecord[], findings: Findings) {
    this.#commits = commits;
    this.#findings = findings;
  }

  evidence(commit: CommitRecord): Evidence | undefined {
    return this.#evidence.get(commit);
  }

  /** If the evidence contradicts itself, the first one counts. */
  claim(commit: CommitRecord, revision: Revision, moment: Moment): void {
    this.#findings.check(() => this.#claim(commit, revision, moment));
  }

  /** Records an entry that a client saw in a universe, and the revision of the event that brought it. */
  witness(entry: Entry, universe: Universe, seen: { moment: Moment; revision?: Revision }): void {
    this.#findings.check(() => this.#witness(entry, universe, seen));
  }

  #claim(commit: CommitRecord, revision: Revision, moment: Moment): void {
    const other = this.byRevision.get(revision);
    if (other === commit) return;
    if (other) {
      const property = other.life === commit.life ? 'linearizable' : 'durable';
      throw new Violation(property, moment.line, `revision ${revision} belongs to both #${other.id} and #${commit.id}`);
    }
    const before = this.#evidence.get(commit)?.revision;
    if (before !== undefined) {
      throw new Violation('invented', moment.line, `#${commit.id} happened twice, at ${before} and at ${revision}`);
    }
    if (commit.outcome.type === 'refused' || (commit.outcome.type === 'answered' && !commit.outcome.result.committed)) {
      throw new Violation('invented', moment.line, `#${commit.id} was refused, and yet happened at ${revision}`);
    }
    if (revision <= commit.floor) {
      throw new Violation(
        'linearizable',
        moment.line,
        `#${commit.id} at ${revision} began when ${commit.floor} was known`,
      );
    }
    this.byRevision.set(revision, commit);
    this.#evidence.set(commit, { revision, moment });
  }

  #witness(entry: Entry, universe: Universe, { moment, revision }: { moment: Moment; revision?: Revision }): void {
    const signature = signatureOf(entry.value);
    const commit = signature && this.#commits[signature.commit];
    const write = signature && commit?.writes[signature.place];
    if (!commit) {
      if (universe.base.some((base) => base.key === entry.key && Buffer.compare(base.value, entry.value) === 0)) return;
      const property = entry.key.includes('.hidden/') ? 'tombstones' : 'invented';
      throw new Violation(property, moment.line, `nobody wrote what stands under ${entry.key} in ${universe.name}`);
    }
    if (commit.universe !== universe) {
      throw new Violation('isolated', moment.line, `${universe.name} sees ${entry.key} of ${commit.universe.name}`);
    }
    if (write?.type !== 'put' || write.key !== entry.key || Buffer.compare(write.value, entry.value) !== 0) {
      throw new Violation('invented', moment.line, `#${commit.id} did not write this under ${entry.key}`);
    }
    const { restored } = write;
    if (restored && restored.modRevision !== entry.modRevision) {
      const what = `restored ${entry.key} at ${restored.modRevision}, not at ${entry.modRevision}`;
      throw new Violation('durable', moment.line, `#${commit.id} ${what}`);
    }
    // A restored entry does not have the revision of its transaction.
    const claimed = restored ? revision : entry.modRevision;
    if (claimed !== undefined) this.#claim(commit, claimed, moment);
  }
}

/** Reports whether a transaction changed something and so has its own revision. */
export function isEffective(commit: CommitRecord): boolean {
  if (commit.outcome.type !== 'answered' || !commit.outcome.result.committed) return false;
  return commit.outcome.result.deleted > 0 || commit.writes.some((write) => write.type === 'put');
}

export function gatherClaims(recorder: Recorder): Claims {
  const claims = new Claims(recorder.commits, recorder.findings);
  for (const commit of recorder.commits) {
    const { outcome, responded } = commit;
    if (outcome.type === 'answered' && isEffective(commit)) claims.claim(commit, outcome.result.revision, responded!);
  }
  for (const { outcome, responded, universe } of recorder.commits) {
    if (outcome.type !== 'answered' || outcome.result.committed) continue;
    for (const { entry } of outcome.result.conflicts)
      if (entry) claims.witness(entry, universe, { moment: responded! });
  }
  for (const { answer, options, universe, responded } of recorder.reads) {
    if (!answer || !('entries' in answer) || options.keysOnly) continue;
    for (const entry of answer.entries) claims.witness(entry, universe, { moment: responded! });
  }
  for (const { deliveries, universe } of recorder.watches) {
    for (const { batch, moment } of deliveries) {
      for (const event of batch.events) {
        if (event.type === 'put') claims.witness(event.entry, universe, { moment, revision: batch.revision });
        if (event.previous) claims.witness(event.previous, universe, { moment });
      }
    }
  }
  return claims;
}

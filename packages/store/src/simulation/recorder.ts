/** Keeps the records of a world and the known revisions, and checks each answer against them at once. */

import type { LeaseId, Revision } from '../contract.ts';
import { firstRevision } from '../engine/rows.ts';
import { Findings } from './findings.ts';
import type { CommitRecord, CompactionRecord, LeaseRecord, Life, ReadRecord, WatchRecord } from './records.ts';
import { Trace } from './trace.ts';
import type { Moment } from './trace.ts';
import { Violation } from './violation.ts';
import type { Property } from './violation.ts';
import type { Clock } from '@hangar/core';

/** Far more than any world needs. */
const linesMax = 40_000;

export class Recorder {
  readonly trace: Trace;
  readonly commits: CommitRecord[] = [];
  readonly reads: ReadRecord[] = [];
  readonly watches: WatchRecord[] = [];
  readonly compactions: CompactionRecord[] = [];
  readonly leases = new Map<LeaseId, LeaseRecord>();
  readonly lives: Life[] = [];
  /** How the known revision grew: ascending in both. */
  readonly learned: { readonly moment: Moment; readonly revision: Revision }[] = [];
  /** From this line on the disk works: nothing may fail because of it. */
  healedAtLine = Infinity;
  readonly findings = new Findings();

  constructor(clock: Clock) {
    this.trace = new Trace(clock);
  }

  /** The highest revision that any client received. */
  get known(): Revision {
    return this.learned.at(-1)?.revision ?? firstRevision;
  }

  note(text: string): Moment {
    const moment = this.trace.add(text);
    if (moment.line < linesMax) return moment;
    this.fail('live', moment, 'the world does not come to an end');
    throw new Error('a simulated world ran away');
  }

  learn(revision: Revision, moment: Moment): void {
    if (revision > this.known) this.learned.push({ moment, revision });
  }

  fail(property: Property, moment: Moment, message: string): void {
    this.findings.add(new Violation(property, moment.line, message));
  }

  /** Checks that an answer is not older than the known revision when the call began. */
  checkNotOlder(call: { life: Life; floor: Revision }, least: number, answer: { revision: Revision; moment: Moment }) {
    if (answer.revision >= least) return;
    const property = least <= call.life.floor ? 'durable' : 'linearizable';
    this.fail(
      property,
      answer.moment,
      `answered with revision ${answer.revision}, although ${call.floor} was known before`,
    );
  }
}

/** Reads show exactly the state of the revision that they name; refusals are justified. */

import type { Entry, Revision } from '../../contract.ts';
import type { GivenUp } from '../model/given-up.ts';
import { difference } from '../model/timeline.ts';
import type { Truth } from '../model/truth.ts';
import type { Recorder } from '../recorder.ts';
import type { Failure, ReadRecord } from '../records.ts';
import { signatureOf } from '../values.ts';
import { Violation } from '../violation.ts';
import type { Property } from '../violation.ts';
import { checkRevisionExists } from './check-revision.ts';

export function checkReads(recorder: Recorder, truth: Truth, givenUp: GivenUp): void {
  for (const read of recorder.reads) {
    recorder.findings.check(() => checkRead(read, truth, givenUp));
  }
}

function checkRead(read: ReadRecord, truth: Truth, givenUp: GivenUp): void {
  if (!read.answer) return;
  if ('failure' in read.answer) {
    checkRefusal(read, read.answer.failure, givenUp);
    return;
  }
  checkAllowed(read, read.answer.revision, { truth, givenUp });
  if ('entries' in read.answer) checkEntries(read, read.answer, truth);
  else checkStatistics(read, read.answer.statistics, truth);
}

function checkAllowed(read: ReadRecord, revision: Revision, { truth, givenUp }: { truth: Truth; givenUp: GivenUp }) {
  const { atRevision } = read.options;
  const told = read.responded!;
  if (atRevision === undefined) checkRevisionExists(truth, revision, told);
  else if (atRevision < givenUp.atLeast(read.invoked)) {
    throw new Violation('compacted', told.line, `a read at ${atRevision} is answered, which was compacted before`);
  }
}

function checkRefusal(read: ReadRecord, failure: Failure, givenUp: GivenUp): void {
  const { atRevision } = read.options;
  const line = read.responded!.line;
  if (failure.code === 'FutureRevision' && (atRevision === undefined || atRevision <= read.floor)) {
    throw new Violation('linearizable', line, `revision ${atRevision} "has not been yet", but ${read.floor} was known`);
  }
  if (failure.code !== 'Compacted') return;
  const to = failure.compactedRevision!;
  if (atRevision === undefined || atRevision >= to || to > givenUp.atMost(read.responded!)) {
    throw new Violation('compacted', line, `a read at ${atRevision} is refused because of a compaction to ${to}`);
  }
}

type Entries = Extract<NonNullable<ReadRecord['answer']>, { entries: unknown }>;

function checkEntries(read: ReadRecord, answer: Entries, truth: Truth): void {
  const { keysOnly = false, limit = 0 } = read.options;
  const all = truth.timeline(read.universe).range(read.range, answer.revision);
  const real = limit > 0 ? all.slice(0, limit) : all;
  const keys = new Set([...answer.entries, ...real].map((entry) => entry.key));
  for (const key of keys) {
    const told = answer.entries.find((entry) => entry.key === key);
    const should = real.find((entry) => entry.key === key);
    const problem = difference(told, should, keysOnly);
    if (problem) throw wrong(read, propertyOf(read, answer.entries, { told, should }), `shows ${problem}`);
  }
  if (answer.entries.some((entry, at) => entry.key !== real[at]!.key)) {
    throw wrong(read, 'linearizable', 'shows keys out of order');
  }
  if (answer.more !== all.length > real.length) throw wrong(read, 'linearizable', `says "more: ${answer.more}"`);
}

/** The property that a missing entry violates depends on the reader. */
function propertyOf(
  read: ReadRecord,
  entries: readonly Entry[],
  { told, should }: { told: Entry | undefined; should: Entry | undefined },
): Property {
  if (told?.key.includes('.hidden/')) return 'tombstones';
  if (!read.recovery) return 'linearizable';
  const lost = should && signatureOf(should.value)?.commit;
  const inPart = entries.some((entry) => signatureOf(entry.value)?.commit === lost);
  return lost !== undefined && inPart ? 'whole' : 'durable';
}

function checkStatistics(read: ReadRecord, told: { keys: number; bytes: number }, truth: Truth): void {
  const { revision } = read.answer as { revision: number };
  const entries = truth.timeline(read.universe).range(read.range, revision);
  const bytes = entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0);
  if (told.keys === entries.length && told.bytes === bytes) return;
  const real = `${entries.length} keys and ${bytes} bytes`;
  throw wrong(read, 'linearizable', `counts ${told.keys} keys and ${told.bytes} bytes instead of ${real}`);
}

function wrong(read: ReadRecord, property: Property, message: string): Violation {
  const { revision } = read.answer as { revision: number };
  return new Violation(property, read.responded!.line, `a read of ${read.universe.name} at ${revision} ${message}`);
}

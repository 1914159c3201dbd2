/**
 * Encoding of groups and outcomes between the threads. A structured clone copies the whole buffer behind each value (a kilobyte of a pooled
 * buffer copies the pool), and every property name; so values are transferred in one buffer, and the common transaction as plain numbers
 * and strings in one flat array.
 */

import { unreachable } from '@hangar/core';
import type { CommitResult, LeaseId, RestoredRevisions, Revision, Write } from '../../contract.ts';
import type { Change, Command, Outcome } from '../../engine/command.ts';

type Flat = (string | number | undefined | object)[];

export interface PackedGroup {
  readonly commands: Flat;
  readonly values: Uint8Array<ArrayBuffer>;
}

const tags = { put: 0, delete: 1, deleteRange: 2, check: 3, other: 4, restoringPut: 5 } as const;

export function packGroup(group: readonly Command[]): PackedGroup {
  let length = 0;
  for (const command of group) {
    if (command.type !== 'transaction') continue;
    for (const write of command.writes) if (write.type === 'put') length += write.value.length;
  }
  const values = new Uint8Array(length);
  const commands: Flat = [];
  let at = 0;
  for (const command of group) {
    if (command.type !== 'transaction') {
      commands.push(tags.other, command);
      continue;
    }
    commands.push(-command.writes.length);
    for (const write of command.writes) {
      packWrite(commands, write);
      if (write.type !== 'put') continue;
      values.set(write.value, at);
      at += write.value.length;
    }
  }
  return { commands, values };
}

function packWrite(out: Flat, write: Write): void {
  switch (write.type) {
    case 'put':
      packPut(out, write);
      break;
    case 'delete':
      out.push(tags.delete, write.key, write.expected);
      break;
    case 'deleteRange':
      out.push(tags.deleteRange, write.range.start, write.range.end);
      break;
    case 'check':
      out.push(tags.check, write.key, write.expected);
      break;
    default:
      unreachable(write);
  }
}

/** Restored puts are rare: others travel without the fields of those. */
function packPut(out: Flat, { key, value, expected, lease, restored, revisionMin }: Write & { type: 'put' }): void {
  const isPlain = restored === undefined && revisionMin === undefined;
  out.push(isPlain ? tags.put : tags.restoringPut, key, expected, lease, value.length);
  if (!isPlain) out.push(restored && { ...restored }, revisionMin);
}

export function unpackGroup({ commands, values }: PackedGroup): Command[] {
  const group: Command[] = [];
  let at = 0;
  let valueAt = 0;
  const unpackWrite = (): Write => {
    const tag = commands[at++];
    const key = commands[at++] as string;
    const expected = commands[at++] as Revision | undefined;
    if (tag === tags.put || tag === tags.restoringPut) {
      const lease = commands[at++] as LeaseId | undefined;
      const length = commands[at++] as number;
      const value = values.subarray(valueAt, (valueAt += length));
      const restored = tag === tags.put ? undefined : (commands[at++] as RestoredRevisions | undefined);
      const revisionMin = tag === tags.put ? undefined : (commands[at++] as Revision | undefined);
      return {
        type: 'put',
        key,
        value,
        ...(expected !== undefined && { expected }),
        ...(lease !== undefined && { lease }),
        ...(restored && { restored }),
        ...(revisionMin !== undefined && { revisionMin }),
      };
    }
    if (tag === tags.deleteRange) {
      const end = expected as string | undefined;
      return { type: 'deleteRange', range: end === undefined ? { start: key } : { start: key, end } };
    }
    if (tag === tags.check) return { type: 'check', key, expected: expected! };
    return { type: 'delete', key, ...(expected !== undefined && { expected }) };
  };
  while (at < commands.length) {
    const head = commands[at++] as number;
    if (head === tags.other) group.push(commands[at++] as Command);
    else group.push({ type: 'transaction', writes: Array.from({ length: -head }, unpackWrite) });
  }
  return group;
}

export interface PackedOutcomes {
  /** Five numbers for a committed put of one key; a revision of 0 means that the outcome is the next of `others`. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly others: readonly (Outcome | ManyChanges)[];
}

/** An outcome with many changes, as the deletion of a range has: ten thousand objects take longer to clone than all the rest. */
interface ManyChanges {
  readonly result: CommitResult;
  /** In one text: ten thousand texts take milliseconds to clone. */
  readonly keys: string;
  /** Four for each key. */
  readonly changeNumbers: Float64Array<ArrayBuffer>;
}

const numbersEach = 5;
const changeNumbersEach = 4;
/** Keys have no control characters. */
const keyEnd = '\0';
/** Fewer are cloned as they are. */
const manyChanges = 32;
const unpackedAtOnce = 2_000;

export function packOutcomes(outcomes: readonly Outcome[]): PackedOutcomes {
  const numbers = new Float64Array(outcomes.length * numbersEach);
  const others: (Outcome | ManyChanges)[] = [];
  outcomes.forEach((outcome, place) => {
    const change = 'result' in outcome && outcome.changes.length === 1 ? outcome.changes[0]! : undefined;
    if (!change || change.write < 0 || !('result' in outcome)) {
      others.push(packMany(outcome));
      return;
    }
    const at = place * numbersEach;
    numbers[at] = outcome.result.revision;
    numbers[at + 1] = change.createRevision;
    numbers[at + 2] = change.version;
    numbers[at + 3] = change.previousId;
    numbers[at + 4] = change.write;
  });
  return { numbers, others };
}

/** Needs the group that the outcomes answer: keys do not travel back. Pauses after each slice of an outcome with many changes. */
export function* unpackOutcomes(
  { numbers, others }: PackedOutcomes,
  group: readonly Command[],
): Generator<void, Outcome[], void> {
  const outcomes: Outcome[] = [];
  let other = 0;
  for (const [place, command] of group.entries()) {
    const at = place * numbersEach;
    const revision = numbers[at] as Revision;
    if (revision === 0) {
      outcomes.push(yield* unpackMany(others[other++]!));
      continue;
    }
    const write = numbers[at + 4]!;
    const { key } = (command as Command & { type: 'transaction' }).writes[write] as Write & { type: 'put' };
    const change: Change = {
      key,
      write,
      createRevision: numbers[at + 1] as Revision,
      version: numbers[at + 2]!,
      previousId: numbers[at + 3]!,
    };
    outcomes.push({ result: { committed: true, revision, deleted: 0 }, changes: [change] });
  }
  return outcomes;
}

function packMany(outcome: Outcome): Outcome | ManyChanges {
  if ('error' in outcome || outcome.more !== undefined || outcome.changes.length < manyChanges) return outcome;
  const { result, changes } = outcome;
  const changeNumbers = new Float64Array(changes.length * changeNumbersEach);
  changes.forEach(({ write, createRevision, version, previousId }, place) =>
    changeNumbers.set([write, createRevision, version, previousId], place * changeNumbersEach),
  );
  return { result, keys: changes.map(({ key }) => key).join(keyEnd), changeNumbers };
}

function* unpackMany(outcome: Outcome | ManyChanges): Generator<void, Outcome, void> {
  if (!('keys' in outcome)) return outcome;
  const { result, keys, changeNumbers } = outcome;
  const changes: Change[] = [];
  for (const key of keys.split(keyEnd)) {
    if (changes.length % unpackedAtOnce === 0) yield;
    const at = changes.length * changeNumbersEach;
    changes.push({
      key,
      write: changeNumbers[at]!,
      createRevision: changeNumbers[at + 1] as Revision,
      version: changeNumbers[at + 2]!,
      previousId: changeNumbers[at + 3]!,
    });
  }
  return { result, changes };
}

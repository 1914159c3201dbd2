/** Answers to transactions that changed nothing: each must be right for the state whose revision it names. */

import type { Conflicted } from '../../contract.ts';
import { isEffective } from '../model/claims.ts';
import { difference } from '../model/timeline.ts';
import type { Timeline } from '../model/timeline.ts';
import type { Truth } from '../model/truth.ts';
import type { Recorder } from '../recorder.ts';
import type { CommitRecord } from '../records.ts';
import { Violation } from '../violation.ts';
import { checkRevisionExists } from './check-revision.ts';

export function checkCommits(recorder: Recorder, truth: Truth): void {
  for (const commit of recorder.commits) {
    recorder.findings.check(() => checkCommit(commit, truth));
  }
}

function checkCommit(commit: CommitRecord, truth: Truth): void {
  if (commit.outcome.type !== 'answered' || isEffective(commit)) return;
  const { result } = commit.outcome;
  checkRevisionExists(truth, result.revision, commit.responded!);
  const timeline = truth.timeline(commit.universe);
  if (result.committed) checkNothingToDo(commit, timeline, result.revision);
  else checkConflict(commit, timeline, result);
}

function checkNothingToDo(commit: CommitRecord, timeline: Timeline, revision: number): void {
  const [conflict] = timeline.conflicts(commit.writes, revision);
  if (conflict)
    throw wrong(commit, `passed at ${revision}, but ${conflict.key} was at ${conflict.entry?.modRevision ?? 0}`);
  const [change] = timeline.effect(commit.writes, (revision + 1) as never, revision);
  if (change) throw wrong(commit, `says at ${revision} that nothing was deleted, but ${change.key} was there`);
}

function checkConflict(commit: CommitRecord, timeline: Timeline, result: Conflicted): void {
  const { revision } = result;
  const real = new Map(timeline.conflicts(commit.writes, revision).map(({ key, entry }) => [key, entry]));
  if (real.size === 0) throw wrong(commit, `was refused at ${revision}, where all of its conditions held`);
  for (const { key, entry } of result.conflicts) {
    if (!real.has(key)) throw wrong(commit, `names ${key} as a conflict at ${revision}, which it was not`);
    const problem = difference(entry, real.get(key));
    if (problem) throw wrong(commit, `conflict at ${revision} shows ${problem}`);
    real.delete(key);
  }
  if (real.size > 0) throw wrong(commit, `conflict at ${revision} does not name ${[...real.keys()].join(', ')}`);
}

function wrong(commit: CommitRecord, message: string): Violation {
  return new Violation('linearizable', commit.responded!.line, `#${commit.id} ${message}`);
}

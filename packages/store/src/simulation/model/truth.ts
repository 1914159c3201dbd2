/**
 * The actual history: all committed transactions in the order of their revisions, and every state between them. Replaying them checks that
 * each one's conditions held just before it. Deletions do not name their transaction: they are attributed to any that could have made
 * exactly them (a transaction without an answer, an expired lease).
 */

import type { Revision } from '../../contract.ts';
import { firstRevision } from '../../engine/rows.ts';
import type { Recorder } from '../recorder.ts';
import type { CommitRecord, LeaseRecord, Life } from '../records.ts';
import type { Moment } from '../trace.ts';
import type { Universe } from '../universe.ts';
import { Violation } from '../violation.ts';
import { gatherClaims, isEffective } from './claims.ts';
import type { Claims, Evidence } from './claims.ts';
import { Timeline } from './timeline.ts';
import type { Change } from './timeline.ts';

export interface Transaction {
  readonly revision: Revision;
  readonly universe: Universe;
  /** Undefined: an expired lease. */
  readonly commit: CommitRecord | undefined;
  /** Start of its existence. */
  readonly since: Moment;
}

export interface Truth {
  readonly transactions: ReadonlyMap<Revision, Transaction>;
  timeline(universe: Universe): Timeline;
  /** Reports whether a store can be at this revision. */
  exists(revision: Revision): boolean;
}

/** Deletions at a revision that no known transaction made. */
interface Unexplained {
  readonly universe: Universe;
  readonly keys: Set<string>;
  /** When it was first seen, and the latest time at which it happened: a change found at the start of a life happened before it. */
  readonly moment: Moment;
  readonly happened: Moment;
  /** The beginning of the life in which it was first seen: an auditor of an earlier life would have seen it. */
  readonly since: Moment;
  /** A client that watches everything saw it, so these are all of its keys. */
  complete: boolean;
}

export function establishTruth(recorder: Recorder, universes: readonly Universe[]): Truth {
  const claims = gatherClaims(recorder);
  const unexplained = gatherUnexplained(recorder, claims);
  const timelines = new Map(universes.map((universe) => [universe, new Timeline(universe.base)]));
  const transactions = new Map<Revision, Transaction>();
  const revisions = [...claims.byRevision.keys(), ...unexplained.keys()].sort((a, b) => a - b);
  for (const revision of revisions) {
    const open = unexplained.get(revision);
    const commit = claims.byRevision.get(revision) ?? explain(revision, open!);
    const universe = commit?.universe ?? open!.universe;
    const timeline = timelines.get(universe)!;
    if (commit) recorder.findings.check(() => checkReplay(timeline, commit, claims.evidence(commit)!));
    timeline.apply(revision, commit ? timeline.effect(commit.writes, revision) : timeline.deletion([...open!.keys]));
    transactions.set(revision, { revision, universe, commit, since: commit?.invoked ?? open!.since });
  }
  return {
    transactions,
    timeline: (universe) => timelines.get(universe)!,
    exists: (revision) => revision === firstRevision || transactions.has(revision),
  };

  function explain(revision: Revision, open: Unexplained): CommitRecord | undefined {
    const timeline = timelines.get(open.universe)!;
    const commit = recorder.commits.find(
      (commit) => isOpen(commit) && onlyDeletes(commit) && covers(timeline.effect(commit.writes, revision), open),
    );
    if (commit) {
      claims.claim(commit, revision, open.moment);
      return commit;
    }
    const lease = [...recorder.leases.values()].find(
      ({ id, universe }) => universe === open.universe && covers(timeline.deletion(timeline.leased(id)), open),
    );
    recorder.findings.check(() => {
      if (lease) return checkNotEarly(lease, open.happened);
      const what = `deleted ${[...open.keys].join(', ')} at ${revision} in ${open.universe.name}`;
      const half = recorder.commits.find(
        (commit) => isOpen(commit) && overlaps(timeline.effect(commit.writes, revision), open),
      );
      if (half) throw new Violation('whole', open.moment.line, `only a part of #${half.id} happened, it ${what}`);
      throw new Violation('invented', open.moment.line, `nobody ${what}`);
    });
    return undefined;

    /** Reports whether the outcome is unknown, and could be this one. */
    function isOpen(commit: CommitRecord): boolean {
      return (
        commit.outcome.type === 'unknown' &&
        commit.universe === open.universe &&
        commit.floor < revision &&
        commit.invoked.line < open.moment.line &&
        claims.evidence(commit) === undefined &&
        timeline.conflicts(commit.writes, Infinity).length === 0
      );
    }
  }
}

function covers(changes: readonly Change[], { keys, complete }: Unexplained): boolean {
  const deleted = new Set(changes.map((change) => change.key));
  return (!complete || deleted.size === keys.size) && deleted.size > 0 && [...keys].every((key) => deleted.has(key));
}

function overlaps(changes: readonly Change[], { keys }: Unexplained): boolean {
  return changes.some(({ key, entry }) => !entry && keys.has(key));
}

function onlyDeletes({ writes }: CommitRecord): boolean {
  return writes.every((write) => write.type !== 'put');
}

function checkReplay(timeline: Timeline, commit: CommitRecord, { revision, moment }: Evidence): void {
  const { line } = moment;
  const [conflict] = timeline.conflicts(commit.writes, Infinity);
  if (conflict) {
    const { key, entry } = conflict;
    throw new Violation(
      'linearizable',
      line,
      `#${commit.id} committed at ${revision}, but ${key} was at ${entry?.modRevision ?? 0}`,
    );
  }
  const changes = timeline.effect(commit.writes, revision);
  const deleted = changes.filter((change) => !change.entry).length;
  if (isEffective(commit) && commit.outcome.type === 'answered' && commit.outcome.result.committed) {
    const told = commit.outcome.result.deleted;
    if (told !== deleted) {
      throw new Violation(
        'linearizable',
        line,
        `#${commit.id} at ${revision} deleted ${deleted} keys, but says ${told}`,
      );
    }
  }
}

function checkNotEarly(lease: LeaseRecord, moment: Moment): void {
  if (lease.revokedAt && lease.revokedAt.line < moment.line) return;
  const untilMs = lease.alive.findLast(({ since }) => since.line < moment.line)!.untilMs;
  if (moment.ms >= untilMs) return;
  throw new Violation('leased', moment.line, `keys of lease ${lease.id} went ${untilMs - moment.ms} ms too early`);
}

function gatherUnexplained(recorder: Recorder, claims: Claims): Map<Revision, Unexplained> {
  const unexplained = new Map<Revision, Unexplained>();
  const found = foundByLife(recorder);
  for (const { deliveries, universe, prefix, life } of recorder.watches) {
    for (const { batch, moment } of deliveries) {
      if (batch.events.length === 0 || claims.byRevision.has(batch.revision)) continue;
      let open = unexplained.get(batch.revision);
      if (!open) {
        const happened = batch.revision <= (found.get(life) ?? 0) ? life.began : moment;
        const since = life.began;
        open = { universe, keys: new Set(), moment, happened, since, complete: false };
        unexplained.set(batch.revision, open);
      }
      if (prefix === universe.widestPrefix) open.complete = true;
      for (const event of batch.events) open.keys.add(event.type === 'put' ? event.entry.key : event.key);
    }
  }
  return unexplained;
}

/** Returns the revision of the store at the start of each life. */
function foundByLife(recorder: Recorder): Map<Life, Revision> {
  const found = new Map<Life, Revision>();
  for (const { recovery, answer, life } of recorder.reads) {
    if (recovery && answer && 'revision' in answer && !found.has(life)) found.set(life, answer.revision);
  }
  return found;
}

/**
 * Bugs that the simulation must find, planted from outside: production code does not contain them. They prove that the checks can fail;
 * each property has at least one bug that breaks it.
 */

import type { Clock, Disk, Random } from '@hangar/core';
import type { Store } from '../contract.ts';
import type { OpenJournal } from '../drivers/memory/memory-store.ts';
import { lostRename, lostSync } from './planted-bugs/disks.ts';
import {
  earlyAnswers,
  forgottenRestores,
  lastingRefusal,
  refusedButWritten,
  swallowedErrors,
  tornGroups,
} from './planted-bugs/journals.ts';
import { noLongTimers, racingRevisions, repeatedWrites, staleReads } from './planted-bugs/stores.ts';
import { lastingTombstones, listedTombstones, mixedTenants, watchedTombstones } from './planted-bugs/views.ts';
import {
  droppedBatches,
  earlyMarks,
  gapAtCompaction,
  noMarks,
  repeatedBatches,
  resumesTooEarly,
  resumesTooLate,
  splitBatches,
  swappedBatches,
  widePrefixes,
} from './planted-bugs/watches.ts';

/** Each member replaces or wraps a part of the healthy world. */
export interface PlantedBug {
  readonly name: string;
  disk?(disk: Disk, random: Random): Disk;
  clock?(clock: Clock): Clock;
  readonly openJournal?: OpenJournal;
  /** The store below everything else that clients use. */
  store?(store: Store, world: { clock: Clock; random: Random }): Store;
  /** The store of a tenant. */
  view?(view: Store, below: { store: Store; root: string }): Store;
}

export const noBug: PlantedBug = { name: 'none' };

export const plantedBugs: readonly PlantedBug[] = [
  { name: 'lost-fsync', disk: lostSync },
  { name: 'revision-race-across-an-await', store: racingRevisions },
  { name: 'watch-gap-at-compaction', store: gapAtCompaction },
  { name: 'torn-group-commit', openJournal: tornGroups },
  { name: 'tombstone-leaks-into-a-list', view: listedTombstones },
  { name: 'tombstone-leaks-into-a-watch', view: watchedTombstones },
  { name: 'tombstone-outlives-its-object', store: lastingTombstones },
  { name: 'tenants-mixed-by-prefix', view: mixedTenants },
  { name: 'lost-rename', disk: lostRename },
  { name: 'acknowledged-before-durable', openJournal: earlyAnswers },
  { name: 'write-error-swallowed', openJournal: swallowedErrors },
  { name: 'refused-but-written', openJournal: refusedButWritten },
  { name: 'full-disk-for-ever', openJournal: lastingRefusal },
  { name: 'restored-revision-lost-in-a-restart', openJournal: forgottenRestores },
  { name: 'stale-read', store: staleReads },
  { name: 'write-happens-twice', store: repeatedWrites },
  { name: 'lease-never-ends', clock: noLongTimers },
  { name: 'slow-watcher-loses-a-batch', store: droppedBatches },
  { name: 'resume-repeats-a-revision', store: resumesTooEarly },
  { name: 'resume-skips-a-revision', store: resumesTooLate },
  { name: 'batch-in-parts', store: splitBatches },
  { name: 'batch-twice', store: repeatedBatches },
  { name: 'batches-swapped', store: swappedBatches },
  { name: 'mark-too-early', store: earlyMarks },
  { name: 'mark-never-comes', store: noMarks },
  { name: 'prefix-too-wide', store: widePrefixes },
];

/** Reading watches in tests, with the rules that hold for every watch checked on the way. */

import assert from 'node:assert/strict';
import type { Revision, StoreEvent, Watch, WatchBatch } from '../contract.ts';
import type { Subject } from './subject.ts';
import { textOf } from './subject.ts';

/** Everything up to and including `revision`, which must touch the watched prefix. Without progress marks. */
export async function readUntil(watch: Watch, revision: Revision): Promise<WatchBatch[]> {
  const read = await readWhile(watch, (batch) => batch.revision < revision || batch.events.length === 0);
  assert.equal(read.at(-1)?.revision, revision, 'the watch went past the revision that was waited for');
  return read.filter((batch) => batch.events.length > 0);
}

/** Requests progress and reads until a mark covers the current revision: the batches are then complete. */
export async function readAll(subject: Subject, watch: Watch): Promise<WatchBatch[]> {
  const current = await subject.store.revision();
  watch.requestProgress();
  const read = await readWhile(watch, (batch) => batch.events.length > 0 || batch.revision < current);
  return read.filter((batch) => batch.events.length > 0);
}

/** Reads while `goOn` returns true. The last batch is the one for which it returned false. */
export async function readWhile(watch: Watch, goOn: (batch: WatchBatch) => boolean): Promise<WatchBatch[]> {
  const read: WatchBatch[] = [];
  for (;;) {
    const batch = await watch.next();
    assert.ok(batch, 'the watch ended early');
    read.push(batch);
    checkOrder(read.at(-2), batch);
    if (!goOn(batch)) return read;
  }
}

/** Revisions grow from batch to batch; a mark may repeat the revision of the preceding batch, but no batch may repeat that of a mark. */
export function checkOrder(before: WatchBatch | undefined, batch: WatchBatch): void {
  if (!before) return;
  const isMark = batch.events.length === 0;
  const inOrder = isMark ? batch.revision >= before.revision : batch.revision > before.revision;
  assert.ok(inOrder, `a batch of revision ${batch.revision} came after one of ${before.revision}`);
}

/**
 * Batches as text, one line each, events in key order: `put a=1`, `put a=2 (was 1)`, `delete a`. An entry's
 * modRevision is checked against its batch.
 */
export function story(subject: Subject, batches: readonly WatchBatch[]): string[] {
  return batches.map((batch) => {
    const lines = batch.events.map((event) => {
      if (event.type === 'put') assert.equal(event.entry.modRevision, batch.revision);
      return line(subject, event);
    });
    return lines.sort().join(', ');
  });
}

function line(subject: Subject, event: StoreEvent): string {
  const was = event.previous ? ` (was ${textOf(event.previous.value)})` : '';
  if (event.type === 'delete') return `delete ${subject.name(event.key)}${was}`;
  return `put ${subject.name(event.entry.key)}=${textOf(event.entry.value)}${was}`;
}

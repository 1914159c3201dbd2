/** Formats each record of a trace as one short line. */

import type { CommitResult, KeyRange, WatchBatch, Write } from '../contract.ts';
import { signatureOf } from './values.ts';

export function describeWrite(write: Write): string {
  if (write.type === 'deleteRange') return `deleteRange ${describeRange(write.range)}`;
  const condition = write.expected === undefined ? '' : ` if ${write.expected}`;
  const lease = write.type === 'put' && write.lease !== undefined ? ` lease ${write.lease}` : '';
  return `${write.type} ${write.key}${condition}${lease}${write.type === 'put' ? describeRestored(write) : ''}`;
}

function describeRestored({ restored, revisionMin }: Write & { type: 'put' }): string {
  const skip = revisionMin === undefined ? '' : ` from ${revisionMin}`;
  if (!restored) return skip;
  return `${skip} restored ${restored.createRevision}/${restored.modRevision}/${restored.version}`;
}

export function describeRange(range: KeyRange): string {
  const bound = (key: string) => key.replace('\u0000', '·');
  return `[${bound(range.start)}, ${range.end === undefined ? '∞' : bound(range.end)})`;
}

export function describeResult(result: CommitResult): string {
  if (result.committed) return `committed @${result.revision}, ${result.deleted} deleted`;
  return `conflict @${result.revision}: ${result.conflicts.map(({ key, entry }) => `${key} is ${entry?.modRevision ?? 'absent'}`).join(', ')}`;
}

export function describeBatch(batch: WatchBatch): string {
  if (batch.events.length === 0) return `mark @${batch.revision}`;
  const events = batch.events.map((event) => {
    if (event.type === 'delete') return `†${event.key}`;
    const signature = signatureOf(event.entry.value);
    return `${event.entry.key}=${signature ? `#${signature.commit}` : 'base'}`;
  });
  return `@${batch.revision} ${events.join(' ')}`;
}

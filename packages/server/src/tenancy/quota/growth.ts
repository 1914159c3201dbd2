/**
 * Computes the growth of a tenant by a transaction: an upper bound from the writes alone, or the exact value from the entries that they
 * replace.
 */

import { absent } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import { addObject, entryBytes, noAmounts } from '../usage/counted.ts';
import type { Amounts, Counted } from '../usage/counted.ts';

export const mayGrow = (writes: readonly Write[], counted: Counted): boolean =>
  writes.some((write) => write.type === 'put' && counted.has(write.key));

/** Returns an upper bound. */
export function growthAtMost(writes: readonly Write[], counted: Counted): Amounts {
  const growth = noAmounts();
  for (const write of writes) {
    if (write.type !== 'put' || !counted.has(write.key)) continue;
    growth.storedBytes += entryBytes(write.key, write.value);
    // A write that requires an existing entry creates no object.
    const mayBeNew = write.expected === undefined || write.expected === absent;
    const kind = mayBeNew ? counted.kindOf(write.key) : undefined;
    if (kind !== undefined) addObject(growth, kind, 1);
  }
  return growth;
}

/**
 * Two changes are free, because otherwise a full tenant could not be emptied: the first mark of an object as deleted, and the server's own
 * notes in a transaction that deletes. All other growth counts, also in an object that is being deleted or in a change that deletes
 * something. Otherwise deletions could be used to fill a tenant.
 */
export async function exactGrowth(
  writes: readonly Write[],
  counted: Counted,
  stored: (key: string) => Promise<Entry | undefined>,
): Promise<Amounts> {
  const growth = noAmounts();
  const deletes = writes.some(({ type }) => type === 'delete' || type === 'deleteRange');
  await Promise.all(
    writes.map(async (write) => {
      if ((write.type !== 'put' && write.type !== 'delete') || !counted.has(write.key)) return;
      const { key } = write;
      const before = await stored(key);
      const now = write.type === 'put' ? entryBytes(key, write.value) : 0;
      const bytes = now - (before ? entryBytes(key, before.value) : 0);
      const isFree =
        write.type === 'put' &&
        bytes > 0 &&
        bytes <= freeBytesMax &&
        ((deletes && counted.isNote(key)) || (before !== undefined && marksDeleted(before.value, write.value)));
      if (!isFree) growth.storedBytes += bytes;
      const change = (write.type === 'put' ? 1 : 0) - (before ? 1 : 0);
      const kind = change === 0 ? undefined : counted.kindOf(key);
      if (kind !== undefined) addObject(growth, kind, change as 1 | -1);
    }),
  );
  return growth;
}

/** A mark consists of a time, finalizers and a condition; the longest note has one bit per port. */
const freeBytesMax = 4_096;

/** An object is marked once: a client can neither remove a mark nor set one in another write. */
const marksDeleted = (before: Uint8Array, now: Uint8Array): boolean => isMarked(now) && !isMarked(before);

function isMarked(value: Uint8Array): boolean {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (!text.includes('"deletionTimestamp":')) return false;
  const { metadata } = JSON.parse(text.toString()) as { metadata?: { deletionTimestamp?: string } };
  return metadata?.deletionTimestamp !== undefined;
}

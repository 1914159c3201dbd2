/** What a transaction would add to a tenant: at most, told by the writes alone; or exactly, by what they replace. */

import { absent } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import { addObject, entryBytes, noAmounts } from '../usage/counted.ts';
import type { Amounts, Counted } from '../usage/counted.ts';

export const mayGrow = (writes: readonly Write[], counted: Counted): boolean =>
  writes.some((write) => write.type === 'put' && counted.has(write.key));

/** Never less than it is. */
export function growthAtMost(writes: readonly Write[], counted: Counted): Amounts {
  const growth = noAmounts();
  for (const write of writes) {
    if (write.type !== 'put' || !counted.has(write.key)) continue;
    growth.storedBytes += entryBytes(write.key, write.value);
    // What must be there already is no new object.
    const mayBeNew = write.expected === undefined || write.expected === absent;
    const kind = mayBeNew ? counted.kindOf(write.key) : undefined;
    if (kind !== undefined) addObject(growth, kind, 1);
  }
  return growth;
}

/**
 * Two things add nothing, or a full tenant could not be emptied: that an object is marked as deleted, once, and what the
 * server notes beside the objects of a transaction that deletes. Whatever else grows is counted, also in an object that is
 * on its way out, or whose change deletes something: nobody may fill a tenant by ending things.
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

/** A mark is a time, finalizers and a condition; the longest note has a bit for every port. */
const freeBytesMax = 4_096;

/** An object is marked once: no client can take a mark back, nor set one with what else it writes. */
const marksDeleted = (before: Uint8Array, now: Uint8Array): boolean => isMarked(now) && !isMarked(before);

function isMarked(value: Uint8Array): boolean {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (!text.includes('"deletionTimestamp":')) return false;
  const { metadata } = JSON.parse(text.toString()) as { metadata?: { deletionTimestamp?: string } };
  return metadata?.deletionTimestamp !== undefined;
}

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
 * What is on its way out adds nothing: an object that is marked as deleted is a little longer than before, and so is what
 * its controllers note in it until it goes. Nor do the notes that are written with a deletion.
 */
export async function exactGrowth(
  writes: readonly Write[],
  counted: Counted,
  stored: (key: string) => Promise<Entry | undefined>,
): Promise<Amounts> {
  const growth = noAmounts();
  await Promise.all(
    writes.map(async (write) => {
      if ((write.type !== 'put' && write.type !== 'delete') || !counted.has(write.key)) return;
      const { key } = write;
      const before = await stored(key);
      const now = write.type === 'put' ? entryBytes(key, write.value) : 0;
      const bytes = now - (before ? entryBytes(key, before.value) : 0);
      if (!(write.type === 'put' && before && isEnding(write.value, bytes))) growth.storedBytes += bytes;
      const change = (write.type === 'put' ? 1 : 0) - (before ? 1 : 0);
      const kind = change === 0 ? undefined : counted.kindOf(key);
      if (kind !== undefined) addObject(growth, kind, change as 1 | -1);
    }),
  );
  const ends = writes.some((write) => write.type === 'delete' || write.type === 'deleteRange');
  if (ends && growth.objects <= 0) growth.storedBytes = Math.min(0, growth.storedBytes);
  return growth;
}

/** More than this is no note: nobody fills a tenant with objects that never end. */
const notesBytesMax = 4_096;

function isEnding(value: Uint8Array, growthBytes: number): boolean {
  if (growthBytes <= 0 || growthBytes > notesBytesMax) return false;
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (!text.includes('"deletionTimestamp":')) return false;
  const { metadata } = JSON.parse(text.toString()) as { metadata?: { deletionTimestamp?: string } };
  return metadata?.deletionTimestamp !== undefined;
}

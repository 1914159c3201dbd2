/** Groups writes into transactions that stay below the limits of the store, with the conditions of a restore. */

import { Buffer } from 'node:buffer';
import type { Write } from '@hangar/store';

const transactionWritesMax = 100;
const transactionBytesMax = 1024 * 1024;

/** Groups writes into transactions. A larger write is alone in its transaction. */
export async function* transactions(writes: AsyncIterable<Write>): AsyncGenerator<Write[], void, void> {
  let group: Write[] = [];
  let bytes = 0;
  for await (const write of writes) {
    const size = sizeOf(write);
    if (group.length === transactionWritesMax || (group.length > 0 && bytes + size > transactionBytesMax)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(write);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

function sizeOf(write: Write): number {
  if (write.type === 'deleteRange' || write.type === 'check') return 0;
  return Buffer.byteLength(write.key) + (write.type === 'put' ? write.value.length : 0);
}

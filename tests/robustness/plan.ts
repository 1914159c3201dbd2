/**
 * A planned transaction: small enough to be reported over a pipe before it is sent. Values are not reported but derived from the
 * transaction's id, so that every value in a store identifies its writer, and a checksum proves that it is whole.
 */

import { crc32 } from 'node:zlib';
import type { Revision, Write } from '@hangar/store';

export type PlannedWrite =
  | { readonly type: 'put'; readonly key: string; readonly size: number; readonly expected?: number }
  | { readonly type: 'delete'; readonly key: string; readonly expected?: number }
  | { readonly type: 'deleteRange'; readonly start: string; readonly end: string };

export interface Plan {
  /** Unique over all processes of a test. */
  readonly id: string;
  readonly writes: readonly PlannedWrite[];
  /**
   * A key that this transaction puts or deletes and that no later one touches until the outcome is known: it decides an unknown outcome.
   */
  readonly witness: string;
}

export function writesOf(plan: Plan): Write[] {
  return plan.writes.map((write, place): Write => {
    if (write.type === 'deleteRange') return { type: 'deleteRange', range: { start: write.start, end: write.end } };
    const condition = write.expected === undefined ? {} : { expected: write.expected as Revision };
    if (write.type === 'delete') return { type: 'delete', key: write.key, ...condition };
    return { type: 'put', key: write.key, value: valueOf(plan.id, place, write.size), ...condition };
  });
}

export function valueOf(id: string, place: number, size: number): Uint8Array {
  const author = `${id} ${place} `;
  return Buffer.alloc(Math.max(size, author.length), author);
}

/** Length and checksum of a value. */
export type Fingerprint = string;

export function fingerprint(value: Uint8Array): Fingerprint {
  return `${value.length} ${crc32(value)}`;
}

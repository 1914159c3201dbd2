/** The limits of the contract, the same for every driver, and their enforcement on requests. */

import type { LeaseId, RestoredRevisions, Revision, Write } from './contract.ts';
import { StoreError } from './errors.ts';
import { checkKey, checkRange, inRange, intersection, shown } from './keys.ts';

/** etcd's default request limit. */
export const valueBytesMax = 1.5 * 1024 * 1024;

/** etcd's default `--max-txn-ops`: for changes, and separately for conditions. */
export const transactionWritesMax = 128;

/** Of restored entries: a store that has to skip to the last safe integer could not count on. */
export const restoredRevisionMax = 2 ** 52;

export const leaseTtlMinMs = 1_000;
export const leaseTtlMaxMs = 9_000_000_000_000;

/** Throws `InvalidKey`, `InvalidRequest` or `ValueTooLarge`; a transaction that passes can be executed by any driver. */
export function checkTransaction(writes: readonly Write[]): void {
  if (!Array.isArray(writes)) throw invalid(`a transaction must be a list of writes, not ${shown(writes)}`);
  if (writes.length === 0) throw invalid('a transaction must have at least one write');
  let [changes, conditions, bytes] = [0, 0, 0];
  for (const write of writes as readonly Write[]) {
    checkType(write);
    if (write.type !== 'check') changes++;
    if (isConditional(write)) conditions++;
    // At once: the list may be endless.
    if (changes > transactionWritesMax) throw tooMany('writes', writes.length);
    if (conditions > transactionWritesMax) throw tooMany('conditions', writes.length);
    if (write.type === 'deleteRange') {
      checkRange(write.range);
      continue;
    }
    checkKey(write.key);
    if (write.expected !== undefined) checkRevision(write.expected);
    // A condition stores nothing, so it does not count towards the size.
    if (write.type !== 'check') bytes += Buffer.byteLength(write.key);
    if (write.type === 'put') {
      bytes += checkValue(write.value);
      if (write.lease !== undefined) checkLeaseId(write.lease);
      if (write.restored !== undefined) checkRestored(write.restored);
      if (write.revisionMin !== undefined) checkRestorable(write.revisionMin);
    }
  }
  if (bytes > valueBytesMax) {
    throw new StoreError(
      'ValueTooLarge',
      `a transaction must not be larger than ${valueBytesMax} bytes, this one has ${bytes}`,
    );
  }
  if (writes.length > 1) checkOverlap(writes);
}

export const isConditional = (write: Write): boolean => write.type !== 'deleteRange' && write.expected !== undefined;

const types: ReadonlySet<unknown> = new Set(['put', 'delete', 'deleteRange', 'check'] satisfies Write['type'][]);

function checkType(write: Write): void {
  if (typeof write !== 'object' || write === null) throw invalid(`${shown(write)} is not a write`);
  if (!types.has(write.type)) throw invalid(`unknown write type ${shown(write.type)}`);
  if (write.type === 'check' && write.expected === undefined) throw invalid('a check must have an expected revision');
}

export function checkRestored(restored: RestoredRevisions): void {
  if (typeof restored !== 'object' || restored === null)
    throw invalid(`a restored put must have revisions, not ${shown(restored)}`);
  const { createRevision, modRevision, version } = restored;
  checkRestorable(createRevision);
  checkRestorable(modRevision);
  if (createRevision < 1 || createRevision > modRevision)
    throw invalid(`a createRevision of ${createRevision} is not between 1 and the modRevision ${modRevision}`);
  if (!Number.isSafeInteger(version) || version < 1)
    throw invalid(`a version must be a positive integer, not ${shown(version)}`);
}

function checkRestorable(revision: Revision): void {
  checkRevision(revision);
  if (revision > restoredRevisionMax)
    throw invalid(`a restored revision must not be above ${restoredRevisionMax}, not ${revision}`);
}

/** Returns the lowest revision that the transaction may have. */
export function revisionMinOf(writes: readonly Write[]): number {
  let min = 0;
  for (const write of writes) {
    if (write.type === 'put') min = Math.max(min, write.revisionMin ?? 0, write.restored?.modRevision ?? 0);
  }
  return min;
}

export function checkLeaseId(id: LeaseId): void {
  if (typeof id !== 'string') throw invalid(`a lease ID must be a string, not ${shown(id)}`);
}

function checkValue(value: Uint8Array): number {
  if (!(value instanceof Uint8Array)) throw invalid('a value must be bytes');
  if (value.length > valueBytesMax) {
    throw new StoreError(
      'ValueTooLarge',
      `a value must not be larger than ${valueBytesMax} bytes, this one has ${value.length}`,
    );
  }
  return value.length;
}

export function checkRevision(revision: number): void {
  if (!Number.isSafeInteger(revision) || revision < 0)
    throw invalid(`a revision must be a non-negative integer, not ${shown(revision)}`);
}

export function checkLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw invalid(`a limit must be a non-negative integer, not ${shown(limit)}`);
}

export function checkTtl(ttlMs: number): void {
  if (typeof ttlMs !== 'number' || !(ttlMs >= leaseTtlMinMs && ttlMs <= leaseTtlMaxMs)) {
    throw invalid(`the TTL of a lease must be between ${leaseTtlMinMs} and ${leaseTtlMaxMs} ms, not ${shown(ttlMs)}`);
  }
}

/** etcd refuses a transaction that changes a key twice; without that rule the order of its writes would matter. */
function checkOverlap(writes: readonly Write[]): void {
  const keys = new Set<string>();
  for (const write of writes) {
    if (write.type === 'deleteRange') continue;
    if (keys.has(write.key)) throw invalid(`a transaction contains the key ${JSON.stringify(write.key)} twice`);
    keys.add(write.key);
  }
  for (const write of writes) {
    if (write.type !== 'deleteRange') continue;
    for (const other of writes) {
      if (other === write || other.type === 'check') continue;
      const overlaps =
        other.type === 'deleteRange'
          ? intersection(other.range, write.range) !== undefined
          : inRange(other.key, write.range);
      if (overlaps) throw invalid('a transaction changes a key that it also deletes by range');
    }
  }
}

const tooMany = (what: string, count: number): StoreError =>
  invalid(`a transaction has at most ${transactionWritesMax} ${what}; this one has ${count} parts`);

function invalid(message: string): StoreError {
  return new StoreError('InvalidRequest', message);
}

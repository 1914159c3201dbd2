/** The bounds of the contract, the same for every driver, and the one place that enforces them on requests. */

import type { Write } from './contract.ts';
import { StoreError } from './errors.ts';
import { checkKey, checkRange, inRange, intersection } from './keys.ts';

/** etcd's default request limit. */
export const valueBytesMax = 1.5 * 1024 * 1024;

/** etcd's default `--max-txn-ops`. */
export const transactionWritesMax = 128;

export const leaseTtlMinMs = 1_000;
export const leaseTtlMaxMs = 9_000_000_000_000;

/** Throws `InvalidKey`, `InvalidRequest` or `ValueTooLarge`; a transaction that passes can be executed by any driver. */
export function checkTransaction(writes: readonly Write[]): void {
  if (writes.length === 0) throw invalid('a transaction needs at least one write');
  if (writes.length > transactionWritesMax) {
    throw invalid(`a transaction has at most ${transactionWritesMax} writes, not ${writes.length}`);
  }
  let bytes = 0;
  for (const write of writes) {
    if (write.type === 'deleteRange') {
      checkRange(write.range);
      continue;
    }
    checkKey(write.key);
    if (write.expected !== undefined) checkRevision(write.expected);
    bytes += write.key.length;
    if (write.type === 'put') bytes += checkValue(write.value);
  }
  if (bytes > valueBytesMax) {
    throw new StoreError('ValueTooLarge', `a transaction holds at most ${valueBytesMax} bytes, not ${bytes}`);
  }
  if (writes.length > 1) checkOverlap(writes);
}

function checkValue(value: Uint8Array): number {
  if (!(value instanceof Uint8Array)) throw invalid('a value must be bytes');
  if (value.length > valueBytesMax) {
    throw new StoreError('ValueTooLarge', `a value holds at most ${valueBytesMax} bytes, not ${value.length}`);
  }
  return value.length;
}

export function checkRevision(revision: number): void {
  if (!Number.isSafeInteger(revision) || revision < 0)
    throw invalid(`a revision must be a whole number, not ${revision}`);
}

export function checkLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 0) throw invalid(`a limit must be a whole number, not ${limit}`);
}

export function checkTtl(ttlMs: number): void {
  if (!(ttlMs >= leaseTtlMinMs && ttlMs <= leaseTtlMaxMs)) {
    throw invalid(`a lease lasts from ${leaseTtlMinMs} to ${leaseTtlMaxMs} ms, not ${ttlMs}`);
  }
}

/** etcd refuses a transaction that changes a key twice; without that rule the order of its writes would matter. */
function checkOverlap(writes: readonly Write[]): void {
  const keys = new Set<string>();
  for (const write of writes) {
    if (write.type === 'deleteRange') continue;
    if (keys.has(write.key)) throw invalid(`a transaction names the key ${JSON.stringify(write.key)} twice`);
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

function invalid(message: string): StoreError {
  return new StoreError('InvalidRequest', message);
}

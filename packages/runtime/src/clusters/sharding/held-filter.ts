/**
 * The set of clusters that a peer holds, as a Bloom filter: 10 bits for each instead of a name. It has no false negatives; one percent of
 * the other clusters are false positives, until the salt changes.
 */

import type { NameHash } from './rendezvous.ts';

const bitsPerEntry = 10;
const probes = 7;

export function heldFilter(hashes: readonly NameHash[], salt: number): string {
  const bytes = Buffer.alloc(Math.max(8, Math.ceil((hashes.length * bitsPerEntry) / 8)));
  for (const hash of hashes) {
    for (const bit of bitsOf(hash, salt, bytes.length * 8)) bytes[bit >> 3]! |= 1 << (bit & 7);
  }
  return `${salt}.${bytes.toString('base64')}`;
}

/** Returns false for a malformed filter. */
export function isInFilter(filter: string | undefined, hash: NameHash): boolean {
  const [, salt, text] = /^(\d+)\.(.+)$/.exec(filter ?? '') ?? [];
  if (salt === undefined || text === undefined) return false;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0) return false;
  for (const bit of bitsOf(hash, Number(salt), bytes.length * 8)) {
    if (((bytes[bit >> 3]! >> (bit & 7)) & 1) === 0) return false;
  }
  return true;
}

/** Two hashes yield any number of them (Kirsch and Mitzenmacher). */
function bitsOf({ high, low }: NameHash, salt: number, length: number): number[] {
  const first = Math.imul(high ^ salt, 0x9e3779b1) >>> 0;
  const step = (Math.imul(low + salt, 0x85ebca6b) | 1) >>> 0;
  return Array.from({ length: probes }, (_, probe) => (first + probe * step) % length);
}

/**
 * Checks stored JSON without parsing it, on the path of every write of the fleet. Both functions may return true or undefined where parsing
 * would not; they have no false negatives.
 */

import { Buffer } from 'node:buffer';

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * `ownerReferences`, `foregroundDeletion`, `orphan`: a search scans for the first letter, so each begins with a rare one, and ends with a
 * quote, which is escaped inside of strings.
 */
const words = ['References"', 'Deletion"', 'orphan"'].map((word) => Buffer.from(word));

/** Reports whether it may have owners, or a finalizer that affects its dependents. */
export function mayConcern(bytes: Uint8Array): boolean {
  const buffer = asBuffer(bytes);
  return words.some((word) => buffer.includes(word));
}

/** The server writes the uid before any field that a user controls. */
const text = '"[^"\\\\]*"';
const head = new RegExp(
  `^\\{"(?:kind|apiVersion)":${text},"(?:kind|apiVersion)":${text},"metadata":\\{"name":${text},` +
    `(?:"generateName":${text},)?(?:"namespace":${text},)?"uid":"([^"\\\\]*)"`,
);
const headBytesMax = 1_024;

/** Returns undefined if it has to be parsed. */
export function uidOf(bytes: Uint8Array): string | undefined {
  const { buffer, byteOffset, byteLength } = bytes;
  return head.exec(Buffer.from(buffer, byteOffset, Math.min(byteLength, headBytesMax)).toString('latin1'))?.[1];
}

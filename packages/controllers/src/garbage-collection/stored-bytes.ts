/**
 * What can be told from stored JSON without parsing it: on the path of every write of the fleet. Both may say yes or undefined where
 * parsing would say otherwise; never no where it would say yes.
 */

import { Buffer } from 'node:buffer';

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * `ownerReferences`, `foregroundDeletion`, `orphan`: a search goes from one first letter to the next, so each begins with a rare one,
 * and ends with a quote, which is escaped inside of texts.
 */
const words = ['References"', 'Deletion"', 'orphan"'].map((word) => Buffer.from(word));

/** Has it owners, or a finalizer that concerns its dependents? */
export function mayConcern(bytes: Uint8Array): boolean {
  const buffer = asBuffer(bytes);
  return words.some((word) => buffer.includes(word));
}

/** How the server begins objects: the uid stands before anything that somebody could have made up. */
const text = '"[^"\\\\]*"';
const head = new RegExp(
  `^\\{"(?:kind|apiVersion)":${text},"(?:kind|apiVersion)":${text},"metadata":\\{"name":${text},` +
    `(?:"generateName":${text},)?(?:"namespace":${text},)?"uid":"([^"\\\\]*)"`,
);
const headBytesMax = 1_024;

/** Undefined: it has to be parsed. */
export function uidOf(bytes: Uint8Array): string | undefined {
  const { buffer, byteOffset, byteLength } = bytes;
  return head.exec(Buffer.from(buffer, byteOffset, Math.min(byteLength, headBytesMax)).toString('latin1'))?.[1];
}

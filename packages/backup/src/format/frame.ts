/**
 * The frames of a container, after its header:
 *
 *     frame    kind u8 · length u32 LE · body · tag (16 bytes)
 *
 * The tag covers the digest of the header, the index of the frame, its kind and its body. With encryption it is the tag of AES-256-GCM, and
 * the nonce is the index: each backup has its own data key, so no nonce repeats. Without encryption it is the first half of SHA-256.
 * So a frame is valid at one position of one backup only; a frame that was moved, repeated, or taken from another backup is detected.
 */

import { createCipheriv, createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { cipherName, nonceBytes, tagBytes } from './key.ts';

export const frameKinds = { stored: 1, compressed: 2, trailer: 3 } as const;
export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

export const frameHeadBytes = 5;
export { tagBytes };

export interface FrameSeal {
  /** Absent: frames are not encrypted. */
  readonly dataKey: Uint8Array | undefined;
  readonly headerDigest: Uint8Array;
}

export interface FramePlace {
  readonly index: number;
  readonly kind: FrameKind;
}

/** Returns the frame in pieces, which are not copied into one buffer: memory that is not allocated is not collected late. */
export function sealFrame({ dataKey, headerDigest }: FrameSeal, place: FramePlace, body: Uint8Array): Buffer[] {
  const head = Buffer.alloc(frameHeadBytes);
  head[0] = place.kind;
  head.writeUInt32LE(body.length, 1);
  const context = contextOf(headerDigest, place);
  if (dataKey === undefined) return [head, Buffer.from(body), plainTag(context, body)];
  const cipher = createCipheriv(cipherName, dataKey, nonceOf(place.index));
  cipher.setAAD(context);
  const sealed = cipher.update(body);
  cipher.final();
  return [head, sealed, cipher.getAuthTag()];
}

/** Returns the body in a new buffer; undefined if the frame is not the one that was sealed for this place. */
export function openFrame(
  { dataKey, headerDigest }: FrameSeal,
  place: FramePlace,
  body: Buffer,
  tag: Buffer,
): Buffer | undefined {
  const context = contextOf(headerDigest, place);
  if (dataKey === undefined) return timingSafeEqual(plainTag(context, body), tag) ? Buffer.from(body) : undefined;
  const decipher = createDecipheriv(cipherName, dataKey, nonceOf(place.index), { authTagLength: tagBytes });
  decipher.setAAD(context);
  decipher.setAuthTag(tag);
  try {
    const opened = decipher.update(body);
    decipher.final();
    return opened;
  } catch {
    return undefined;
  }
}

function contextOf(headerDigest: Uint8Array, { index, kind }: FramePlace): Buffer {
  const place = Buffer.alloc(9);
  place.writeBigUInt64LE(BigInt(index), 0);
  place[8] = kind;
  return Buffer.concat([headerDigest, place]);
}

function nonceOf(index: number): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeBigUInt64LE(BigInt(index), 0);
  return nonce;
}

const plainTag = (context: Uint8Array, body: Uint8Array): Buffer =>
  createHash('sha256').update(context).update(body).digest().subarray(0, tagBytes);

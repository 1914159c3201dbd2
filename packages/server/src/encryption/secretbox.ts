/**
 * NaCl's secretbox, XSalsa20 and Poly1305, as kube-apiserver seals values with it: a nonce of 24 bytes, a tag of 16, and
 * the ciphertext. Node's crypto has neither cipher nor authenticator by themselves.
 */

import { timingSafeEqual } from 'node:crypto';
import { poly1305 } from './poly1305.ts';
import { hsalsa20, salsa20 } from './salsa20.ts';

export const keyBytes = 32;
export const nonceBytes = 24;
const tagBytes = 16;

/** The key of the authenticator is the first 32 bytes of the key stream; the message begins behind them. */
const streamOffset = 32;

/** Tag and ciphertext, without the nonce. */
export function seal(plain: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array {
  const { authenticator, text } = crypt(plain, nonce, key);
  const sealed = new Uint8Array(tagBytes + text.length);
  sealed.set(text, tagBytes);
  sealed.set(poly1305(text, authenticator));
  return sealed;
}

/** Undefined: it was not sealed with this key and nonce, or was changed since. */
export function open(sealed: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  if (sealed.length < tagBytes || nonce.length !== nonceBytes) return undefined;
  const text = sealed.subarray(tagBytes);
  const { authenticator, text: plain } = crypt(text, nonce, key);
  return timingSafeEqual(poly1305(text, authenticator), sealed.subarray(0, tagBytes)) ? plain : undefined;
}

function crypt(text: Uint8Array, nonce: Uint8Array, key: Uint8Array): { authenticator: Uint8Array; text: Uint8Array } {
  const subkey = hsalsa20(key, nonce.subarray(0, 16));
  const stream = new Uint8Array(streamOffset + text.length);
  stream.set(text, streamOffset);
  salsa20(stream, nonce.subarray(16), subkey);
  return { authenticator: stream.subarray(0, streamOffset), text: stream.subarray(streamOffset) };
}

/**
 * Encrypts values with NaCl's secretbox (XSalsa20 and Poly1305), as kube-apiserver does: a nonce of 24 bytes, a tag of 16, and the
 * ciphertext. Node's crypto has neither, so the ciphers come from `@noble/ciphers` (docs/adr/0027).
 */

import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';

export const keyBytes = 32;
export const nonceBytes = 24;
const tagBytes = 16;

/** Returns tag and ciphertext, without the nonce. */
export function seal(plain: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array {
  return xsalsa20poly1305(key, nonce).encrypt(plain);
}

/** Returns undefined if the value was not encrypted with this key and nonce, or was changed. */
export function open(sealed: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  if (sealed.length < tagBytes || nonce.length !== nonceBytes) return undefined;
  try {
    return xsalsa20poly1305(key, nonce).decrypt(sealed);
  } catch {
    // With correct lengths, the cipher throws only for a wrong tag.
    return undefined;
  }
}

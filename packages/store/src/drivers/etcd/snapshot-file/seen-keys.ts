/**
 * A set of keys in a fixed amount of memory: 16 bytes of the SHA-256 of each key in an open hash table. Two different keys have the same
 * 16 bytes with a probability below 2^-80 for a million keys.
 */

import { hash } from 'node:crypto';

const wordsPerSlot = 4;
const loadMax = 0.6;

export class SeenKeys {
  readonly #slots: number;
  readonly #words: Uint32Array;
  readonly #part: { readonly index: number; readonly of: number };
  #size = 0;

  /** Keeps only the keys of one of `of` parts of all keys. `of` and `slots` are powers of two, `slots` at least 4: a slot is always free. */
  constructor(slots: number, part: { readonly index: number; readonly of: number }) {
    this.#slots = slots;
    this.#words = new Uint32Array(slots * wordsPerSlot);
    this.#part = part;
  }

  /** `other`: the key belongs to another part. `full`: the set has no space for the key. */
  add(key: Uint8Array): 'new' | 'known' | 'other' | 'full' {
    const digest = hash('sha256', key, 'buffer');
    const print = [
      digest.readUInt32LE(0),
      digest.readUInt32LE(4),
      digest.readUInt32LE(8),
      digest.readUInt32LE(12) || 1,
    ];
    if ((digest.readUInt32LE(16) & (this.#part.of - 1)) !== this.#part.index) return 'other';
    const words = this.#words;
    for (let slot = print[0]! & (this.#slots - 1); ; slot = (slot + 1) & (this.#slots - 1)) {
      const at = slot * wordsPerSlot;
      // The last word of a used slot is never 0.
      if (words[at + 3] === 0) {
        if (this.#size >= this.#slots * loadMax) return 'full';
        words.set(print, at);
        this.#size++;
        return 'new';
      }
      if (print.every((word, index) => words[at + index] === word)) return 'known';
    }
  }
}

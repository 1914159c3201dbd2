/** Randomness as a dependency: that of the system for production, a seeded one that replays for tests and simulation. */

import { randomFillSync, randomInt } from 'node:crypto';
import { assert } from './assert.ts';

export interface Random {
  /** A whole number in [0, bound). */
  below(bound: number): number;
  /** A number in [0, 1). */
  fraction(): number;
  bytes(length: number): Uint8Array;
}

export const systemRandom: Random = {
  below: (bound) => randomInt(bound),
  fraction: () => randomInt(2 ** 47) / 2 ** 47,
  bytes: (length) => (length > pool.length ? randomFillSync(new Uint8Array(length)) : fromPool(length)),
};

/** A system call costs more than the bytes: many are read at once, and each is returned once and erased here. */
const pool = new Uint8Array(4096);
let poolAt = pool.length;

function fromPool(length: number): Uint8Array {
  if (poolAt + length > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const taken = pool.slice(poolAt, poolAt + length);
  pool.fill(0, poolAt, poolAt + length);
  poolAt += length;
  return taken;
}

/** A random UUID (version 4). */
export function uuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Returns true with probability `p`. */
export function chance(random: Random, p: number): boolean {
  return random.fraction() < p;
}

export function pick<T>(random: Random, items: readonly T[]): T {
  assert(items.length > 0, 'cannot pick from an empty list');
  return items[random.below(items.length)] as T;
}

/** sfc32: small, fast, passes PractRand; the same seed gives the same sequence on every machine. Not for secrets. */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88 ^ Math.floor(seed / 2 ** 32);
  let c = 0xb7e15162;
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 15; round++) next();
  return {
    below(bound) {
      assert(Number.isInteger(bound) && bound > 0 && bound <= 2 ** 32, `bound ${bound}`);
      return Math.floor((next() / 2 ** 32) * bound);
    },
    fraction: () => next() / 2 ** 32,
    bytes(length) {
      // A loop takes a quarter of the time of `Uint8Array.from`. Tests fill megabytes.
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; at++) bytes[at] = next();
      return bytes;
    },
  };
}

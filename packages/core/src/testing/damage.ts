/** Damages files and streams: flips bits, truncates, and removes, repeats, swaps or overwrites pieces. */

import { pick } from '../random.ts';
import type { Random } from '../random.ts';

type Damage = (random: Random, bytes: Buffer) => Uint8Array;

export function damage(random: Random, bytes: Uint8Array): Uint8Array {
  let damaged: Uint8Array = Buffer.from(bytes);
  for (let times = 1 + random.below(3); times > 0; times--) damaged = pick(random, kinds)(random, Buffer.from(damaged));
  return damaged;
}

const kinds: readonly Damage[] = [
  (random, bytes) => changed(bytes, random, (byte) => byte ^ (1 << random.below(8))),
  (random, bytes) => changed(bytes, random, () => pick(random, [0, 1, 0x7f, 0x80, 0xff, random.below(256)])),
  (random, bytes) => bytes.subarray(0, random.below(bytes.length + 1)),
  (random, bytes) => Buffer.concat([bytes, random.bytes(random.below(40))]),
  (random, bytes) => without(bytes, piece(random, bytes)),
  (random, bytes) => {
    const { start, end } = piece(random, bytes);
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]);
  },
  (random, bytes) => {
    const { start, end } = piece(random, bytes);
    bytes.fill(pick(random, [0, 0xff]), start, end);
    return bytes;
  },
  (random, bytes) => {
    const taken = piece(random, bytes);
    const rest = without(bytes, taken);
    const at = random.below(rest.length + 1);
    return Buffer.concat([rest.subarray(0, at), bytes.subarray(taken.start, taken.end), rest.subarray(at)]);
  },
  (random) => random.bytes(random.below(64)),
];

function changed(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  if (bytes.length === 0) return bytes;
  const at = random.below(bytes.length);
  bytes[at] = change(bytes[at]!);
  return bytes;
}

function piece(random: Random, bytes: Uint8Array): { start: number; end: number } {
  const start = random.below(bytes.length + 1);
  return { start, end: start + random.below(bytes.length - start + 1) };
}

function without(bytes: Buffer, { start, end }: { start: number; end: number }): Buffer {
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

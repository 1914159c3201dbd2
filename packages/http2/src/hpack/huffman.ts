/**
 * The Huffman code of HPACK (RFC 7541, appendix B), read four bits at a time.
 *
 * The code is canonical, so its lengths define it: symbols sorted by length, then by value, have consecutive codes. A state of the reader
 * is an inner node of the code's tree, of which there are 256; no code is shorter than five bits, so four bits end at most one symbol.
 */

import { ConnectionError } from '../errors.ts';
import { errorCode } from '../protocol.ts';

/** A digit to the base 36 for each symbol from 0 to 255, then for the end of the string. */
const lengthDigits =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';
const endOfString = 256;

export interface HuffmanCode {
  readonly bits: number;
  readonly length: number;
}

/** By symbol. */
export function huffmanCodes(): readonly HuffmanCode[] {
  const lengths = Array.from(lengthDigits, (digit) => parseInt(digit, 36));
  const order = [...lengths.keys()].sort((a, b) => lengths[a]! - lengths[b]! || a - b);
  const codes: HuffmanCode[] = [];
  let bits = -1;
  let before = lengths[order[0]!]!;
  for (const symbol of order) {
    const length = lengths[symbol]!;
    bits = (bits + 1) * 2 ** (length - before);
    before = length;
    codes[symbol] = { bits, length };
  }
  return codes;
}

/** In a step: the next state in the low eight bits, a symbol above them. */
const emits = 1 << 16;
const fails = 1 << 17;

interface Machine {
  /** By state and four bits. */
  readonly steps: Uint32Array;
  /** States in which a string may end: the bits since the last symbol are ones, at most seven. */
  readonly mayEnd: Uint8Array;
}

let machine: Machine | undefined;

function makeMachine(): Machine {
  // Children by node and bit; a leaf is its symbol below zero: -1 is 0.
  const children: [number, number][] = [[0, 0]];
  for (const [symbol, { bits, length }] of huffmanCodes().entries()) {
    let node = 0;
    for (let at = length - 1; at > 0; at--) {
      const bit = Math.floor(bits / 2 ** at) % 2;
      if (children[node]![bit] === 0) children[node]![bit] = children.push([0, 0]) - 1;
      node = children[node]![bit]!;
    }
    children[node]![bits % 2] = -1 - symbol;
  }
  const steps = new Uint32Array(children.length * 16);
  for (let at = 0; at < steps.length; at++) steps[at] = step(children, at >> 4, at & 15);
  const mayEnd = new Uint8Array(children.length);
  for (let node = 0, ones = 0; ones < 8; ones++, node = children[node]![1]) mayEnd[node] = 1;
  return { steps, mayEnd };
}

function step(children: readonly (readonly [number, number])[], state: number, bits: number): number {
  let node = state;
  let emitted = 0;
  for (let at = 3; at >= 0; at--) {
    node = children[node]![(bits >> at) & 1]!;
    if (node >= 0) continue;
    const symbol = -1 - node;
    if (symbol === endOfString) return fails;
    emitted = emits | (symbol << 8);
    node = 0;
  }
  return emitted | node;
}

const shortest = 5;
let scratch = Buffer.allocUnsafeSlow(1024);

export function huffmanDecoded(bytes: Buffer, start: number, end: number): string {
  const { steps, mayEnd } = (machine ??= makeMachine());
  const lengthMax = Math.ceil(((end - start) * 8) / shortest);
  // One buffer serves all: what came out of it is a string already. Only a block of headers is ever decoded, and they are bounded.
  if (lengthMax > scratch.length) scratch = Buffer.allocUnsafeSlow(lengthMax);
  const to = scratch;
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    const high = steps[(state << 4) | (byte >> 4)]!;
    const low = steps[((high & 0xff) << 4) | (byte & 15)]!;
    if ((high | low) & fails) throw new ConnectionError(errorCode.compression, 'a Huffman-encoded string contains EOS');
    if (high & emits) to[length++] = high >> 8;
    if (low & emits) to[length++] = low >> 8;
    state = low & 0xff;
  }
  if (!mayEnd[state]) throw new ConnectionError(errorCode.compression, 'a Huffman-encoded string has invalid padding');
  return to.toString('latin1', 0, length);
}

/** Huffman encoding, which answers do not use: bit by bit, as in RFC 7541. */

import { huffmanCodes } from '../hpack/huffman.ts';

export function huffmanEncoded(text: string): Buffer {
  const codes = huffmanCodes();
  let bits = '';
  for (const byte of Buffer.from(text, 'latin1'))
    bits += codes[byte]!.bits.toString(2).padStart(codes[byte]!.length, '0');
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from(padded.match(/.{8}/g)?.map((byte) => parseInt(byte, 2)) ?? []);
}

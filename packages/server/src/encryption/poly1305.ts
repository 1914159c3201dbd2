/**
 * The Poly1305 authenticator: the message as numbers of 16 bytes each, as a polynomial at a secret point, modulo 2^130 − 5.
 * Numbers are held in six limbs of 22 bits, so that every product and sum of a multiplication is an exact double.
 */

const limbBits = 22;
const limb = 2 ** limbBits;
const limbMask = limb - 1;
/** What goes over the top of six limbs, 2^132, comes back at the bottom: it is four times 2^130, which is 5. */
const around = 20;
/** A one behind the 16 bytes of a block. */
const endOfBlock = 1 << 18;

/** The key has 32 bytes and is used for one message only. */
export function poly1305(message: Uint8Array, key: Uint8Array): Uint8Array {
  const [r0, r1, r2, r3, r4, r5] = pointOf(key);
  const [s1, s2, s3, s4, s5] = [around * r1, around * r2, around * r3, around * r4, around * r5];
  let [h0, h1, h2, h3, h4, h5] = [0, 0, 0, 0, 0, 0];
  const whole = message.length & ~15;
  const last = lastBlock(message.subarray(whole));
  let view = new DataView(message.buffer, message.byteOffset, message.length);
  for (let at = 0; at < whole || (at === whole && last); at += 16) {
    const isLast = at === whole;
    if (isLast) view = new DataView(last!.buffer);
    const from = isLast ? 0 : at;
    const w0 = view.getInt32(from, true);
    const w1 = view.getInt32(from + 4, true);
    const w2 = view.getInt32(from + 8, true);
    const w3 = view.getInt32(from + 12, true);
    h0 += w0 & limbMask;
    h1 += ((w0 >>> 22) | (w1 << 10)) & limbMask;
    h2 += ((w1 >>> 12) | (w2 << 20)) & limbMask;
    h3 += (w2 >>> 2) & limbMask;
    h4 += ((w2 >>> 24) | (w3 << 8)) & limbMask;
    h5 += (w3 >>> 14) + (isLast ? 0 : endOfBlock);
    const d0 = h0 * r0 + h1 * s5 + h2 * s4 + h3 * s3 + h4 * s2 + h5 * s1;
    let d1 = h0 * r1 + h1 * r0 + h2 * s5 + h3 * s4 + h4 * s3 + h5 * s2;
    let d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s5 + h4 * s4 + h5 * s3;
    let d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s5 + h5 * s4;
    let d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * s5;
    let d5 = h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
    let over = Math.floor(d0 / limb);
    h0 = d0 - over * limb;
    over = Math.floor((d1 += over) / limb);
    h1 = d1 - over * limb;
    over = Math.floor((d2 += over) / limb);
    h2 = d2 - over * limb;
    over = Math.floor((d3 += over) / limb);
    h3 = d3 - over * limb;
    over = Math.floor((d4 += over) / limb);
    h4 = d4 - over * limb;
    over = Math.floor((d5 += over) / limb);
    h5 = d5 - over * limb;
    h0 += around * over;
    // Once more at the bottom: the next product must be exact, too.
    over = Math.floor(h0 / limb);
    h0 -= over * limb;
    h1 += over;
  }
  return tagOf([h0, h1, h2, h3, h4, h5], key.subarray(16, 32));
}

type Limbs = readonly [number, number, number, number, number, number];

/** The first half of the key, with the bits cleared that must be. */
function pointOf(key: Uint8Array): Limbs {
  const view = new DataView(key.buffer, key.byteOffset, 16);
  const w0 = view.getInt32(0, true) & 0x0fffffff;
  const w1 = view.getInt32(4, true) & 0x0ffffffc;
  const w2 = view.getInt32(8, true) & 0x0ffffffc;
  const w3 = view.getInt32(12, true) & 0x0ffffffc;
  return [
    w0 & limbMask,
    ((w0 >>> 22) | (w1 << 10)) & limbMask,
    ((w1 >>> 12) | (w2 << 20)) & limbMask,
    (w2 >>> 2) & limbMask,
    ((w2 >>> 24) | (w3 << 8)) & limbMask,
    w3 >>> 14,
  ];
}

/** The rest of the message with a one behind it, in 16 bytes; undefined when there is none. */
function lastBlock(rest: Uint8Array): Uint8Array | undefined {
  if (rest.length === 0) return undefined;
  const block = new Uint8Array(16);
  block.set(rest);
  block[rest.length] = 1;
  return block;
}

/** The number in its smallest form, plus the second half of the key, modulo 2^128. */
function tagOf(limbs: Limbs, pad: Uint8Array): Uint8Array {
  const prime = (1n << 130n) - 5n;
  let number = 0n;
  for (const one of limbs.toReversed()) number = (number << BigInt(limbBits)) + BigInt(one);
  let tag = (number % prime) + littleEndian(pad);
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i++, tag >>= 8n) bytes[i] = Number(tag & 255n);
  return bytes;
}

const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);

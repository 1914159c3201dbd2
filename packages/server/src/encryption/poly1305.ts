/**
 * The Poly1305 authenticator: the message as numbers of 16 bytes each, as a polynomial at a secret point, modulo 2^130 − 5.
 * Numbers are held in ten limbs of 13 bits, so that every product and sum is an exact double.
 */

const limbs = 10;
const limbBits = 13;
const limbMask = 0x1fff;

/** The key has 32 bytes and is used for one message only. */
export function poly1305(message: Uint8Array, key: Uint8Array): Uint8Array {
  const point = toLimbs(clamped(key.subarray(0, 16)), 0);
  const sum = new Float64Array(limbs);
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16);
    const number = toLimbs(block, 1);
    for (let i = 0; i < limbs; i++) sum[i]! += number[i]!;
    multiply(sum, point);
  }
  return tagOf(sum, key.subarray(16, 32));
}

function clamped(bytes: Uint8Array): Uint8Array {
  const point = Uint8Array.from(bytes);
  for (const i of [3, 7, 11, 15]) point[i]! &= 15;
  for (const i of [4, 8, 12]) point[i]! &= 252;
  return point;
}

/** Little-endian, with `end` behind the last byte. */
function toLimbs(bytes: Uint8Array, end: 0 | 1): Float64Array {
  const result = new Float64Array(limbs);
  let pending = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i <= bytes.length; i++) {
    pending |= (i === bytes.length ? end : bytes[i]!) << bits;
    bits += 8;
    if (bits < limbBits) continue;
    result[at++] = pending & limbMask;
    pending >>>= limbBits;
    bits -= limbBits;
  }
  if (at < limbs) result[at] = pending;
  return result;
}

/** `sum *= point`, modulo 2^130 − 5: what goes over the top comes back five times at the bottom. */
function multiply(sum: Float64Array, point: Float64Array): void {
  const product = new Float64Array(limbs);
  for (let i = 0; i < limbs; i++) {
    for (let j = 0; j < limbs; j++) {
      const place = i + j;
      if (place < limbs) product[place]! += sum[i]! * point[j]!;
      else product[place - limbs]! += 5 * sum[i]! * point[j]!;
    }
  }
  carry(product);
  sum.set(product);
}

function carry(number: Float64Array): void {
  let over = 0;
  for (let i = 0; i < limbs; i++) {
    const whole = number[i]! + over;
    over = Math.floor(whole / (limbMask + 1));
    number[i] = whole - over * (limbMask + 1);
  }
  number[0]! += 5 * over;
}

/** The number in its smallest form, plus the second half of the key, modulo 2^128. */
function tagOf(sum: Float64Array, pad: Uint8Array): Uint8Array {
  const prime = (1n << 130n) - 5n;
  let number = 0n;
  for (let i = limbs - 1; i >= 0; i--) number = (number << BigInt(limbBits)) + BigInt(sum[i]!);
  let tag = (number % prime) + littleEndian(pad);
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i++, tag >>= 8n) bytes[i] = Number(tag & 255n);
  return bytes;
}

const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);

/** The Salsa20 stream cipher, and HSalsa20, which derives a key from a key and a long nonce. */

const sigma = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const blockBytes = 64;

/** Words of the state that one quarter round after the other mixes, four at a time: columns, then rows. */
const quarters = new Uint8Array([
  0, 4, 8, 12, 5, 9, 13, 1, 10, 14, 2, 6, 15, 3, 7, 11, 0, 1, 2, 3, 5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14,
]);

function mix(state: Int32Array): void {
  for (let round = 0; round < 20; round += 2) {
    for (let at = 0; at < quarters.length; at += 4) {
      const [ia, ib, ic, id] = [quarters[at]!, quarters[at + 1]!, quarters[at + 2]!, quarters[at + 3]!];
      let [a, b, c, d] = [state[ia]!, state[ib]!, state[ic]!, state[id]!];
      let sum = (a + d) | 0;
      b ^= (sum << 7) | (sum >>> 25);
      sum = (b + a) | 0;
      c ^= (sum << 9) | (sum >>> 23);
      sum = (c + b) | 0;
      d ^= (sum << 13) | (sum >>> 19);
      sum = (d + c) | 0;
      a ^= (sum << 18) | (sum >>> 14);
      state[ia] = a;
      state[ib] = b;
      state[ic] = c;
      state[id] = d;
    }
  }
}

const words = (bytes: Uint8Array): number[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 4 }, (_, index) => view.getInt32(index * 4, true));
};

/** `input` is 16 bytes: a nonce and a counter, or a nonce alone. */
function initial(key: Uint8Array, input: readonly number[]): Int32Array {
  const k = words(key);
  const [s0, s1, s2, s3] = sigma;
  return Int32Array.from([s0, ...k.slice(0, 4), s1, ...input, s2, ...k.slice(4), s3]);
}

/** Changes the bytes in place: the same again gives them back. The nonce has 8 bytes. */
export function salsa20(bytes: Uint8Array, nonce: Uint8Array, key: Uint8Array): void {
  const first = initial(key, [...words(nonce), 0, 0]);
  const state = new Int32Array(16);
  const block = new Uint8Array(state.buffer);
  for (let at = 0; at < bytes.length; at += blockBytes) {
    first[8] = at / blockBytes;
    state.set(first);
    mix(state);
    for (let i = 0; i < 16; i++) state[i]! += first[i]!;
    const end = Math.min(blockBytes, bytes.length - at);
    for (let i = 0; i < end; i++) bytes[at + i]! ^= block[i]!;
  }
}

/** 32 bytes. The nonce has 16. */
export function hsalsa20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const state = initial(key, words(nonce));
  mix(state);
  const derived = Int32Array.from([0, 5, 10, 15, 6, 7, 8, 9], (index) => state[index]!);
  return new Uint8Array(derived.buffer);
}

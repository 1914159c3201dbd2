/**
 * Damages encoded objects in every way that bytes can be damaged, and decodes them: each must become an object or an
 * ApiError, quickly.
 */

import { hasCode } from '@hangar/core';
import type { Random as CoreRandom } from '@hangar/core';
import { apiVersionOf, builtinKinds, schemaOf } from '../builtin/schemas.ts';
import { ApiError } from '../errors.ts';
import { randomObject, seededRandom } from '../testing/random-object.ts';
import type { Random } from '../testing/random-object.ts';
import { decodeProtobuf, encodeProtobuf } from './envelope.ts';

export interface FuzzResult {
  readonly decoded: number;
  readonly refused: number;
  /** The longest that one decoding took. */
  readonly slowestMs: number;
}

/** Throws unexpected errors of the decoder, with the bytes in the message. */
export function fuzzProtobuf(rounds: number, seed: number): FuzzResult {
  const random = seededRandom(seed);
  const kinds = [...builtinKinds()].filter((gvk) =>
    schemaOf(apiVersionOf(gvk), gvk.kind)!.fields.some(({ number }) => number > 0),
  );
  const result = { decoded: 0, refused: 0, slowestMs: 0 };
  for (let round = 0; round < rounds; round++) {
    const gvk = kinds[Math.floor(random() * kinds.length)]!;
    const apiVersion = apiVersionOf(gvk);
    const object = { ...randomObject(schemaOf(apiVersion, gvk.kind)!, random), apiVersion, kind: gvk.kind };
    const bytes = damage(encodeProtobuf(object), random);
    const startedMs = performance.now();
    try {
      decodeProtobuf(bytes);
      result.decoded++;
    } catch (error) {
      if (!(error instanceof ApiError) || hasCode(error, 'InvalidValue')) {
        throw new Error(`seed ${seed}, round ${round}: ${bytes.toString('hex')}`, { cause: error });
      }
      result.refused++;
    }
    result.slowestMs = Math.max(result.slowestMs, performance.now() - startedMs);
  }
  return result;
}

function damage(bytes: Buffer, random: Random): Buffer {
  const at = (): number => 4 + Math.floor(random() * (bytes.length - 4));
  switch (Math.floor(random() * 5)) {
    case 0:
      return bytes.subarray(0, at());
    case 1:
      for (let i = 0; i < 3; i++) bytes[at()] = Math.floor(random() * 256);
      return bytes;
    case 2:
      bytes[at()]! ^= 1 << Math.floor(random() * 8);
      return bytes;
    case 3: {
      const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number];
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
    }
    default:
      bytes.fill(0xff, at(), at());
      return bytes;
  }
}

/** For `npm run fuzz -- protobuf`. */
export function fuzz(random: CoreRandom): void {
  fuzzProtobuf(20, random.below(2 ** 32));
}

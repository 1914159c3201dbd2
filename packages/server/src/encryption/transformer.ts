/**
 * Encrypts and decrypts the stored values of some resources. The first provider encrypts, and the provider that encrypted a value decrypts
 * it, so keys are rotated by putting a new one first.
 */

import type { Random } from '@hangar/core';
import { internalError } from '@hangar/api';
import { isSealed, isSealedBy } from './provider.ts';
import type { Provider } from './provider.ts';

/** Values are stored unencrypted. */
export const identity = 'identity';

export class Transformer {
  readonly #providers: readonly (Provider | typeof identity)[];
  readonly #random: Random;

  constructor(providers: readonly (Provider | typeof identity)[], random: Random) {
    this.#providers = providers;
    this.#random = random;
  }

  toStore(key: string, plain: Uint8Array): Uint8Array {
    const [first] = this.#providers;
    if (first === identity || first === undefined) return plain;
    return Buffer.concat([first.prefix, first.seal(plain, key, this.#random)]);
  }

  /** `isStale`: the current configuration would store it differently. Throws the error for the client if no provider can decrypt it. */
  fromStore(key: string, stored: Uint8Array): { value: Uint8Array; isStale: boolean } {
    const isPlain = !isSealed(stored);
    for (const [place, one] of this.#providers.entries()) {
      if (one === identity) {
        if (isPlain) return { value: stored, isStale: place > 0 };
        continue;
      }
      if (!isSealedBy(stored, one)) continue;
      const value = one.open(stored.subarray(one.prefix.length), key);
      if (value) return { value, isStale: place > 0 };
    }
    throw internalError(new Error(`${whatIsWrong(isPlain)}: ${key}`));
  }
}

const whatIsWrong = (isPlain: boolean): string =>
  isPlain
    ? 'a stored value is not encrypted, and the encryption configuration does not allow plain values'
    : 'no configured key can decrypt a stored value';

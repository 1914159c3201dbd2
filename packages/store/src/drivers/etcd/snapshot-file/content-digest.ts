/**
 * A digest of keys and values that does not depend on their order or on revisions: the sum of the SHA-256 of each entry modulo 2^256, and
 * SHA-256 of that sum. So a snapshot, which has its keys in the order of their last change, and a range of a running etcd, which is in the
 * order of keys, have the same digest without sorting. It detects damage and lost or additional entries; it does not authenticate.
 */

import { createHash, hash } from 'node:crypto';

export interface ContentSummary {
  /** Number of entries. */
  readonly entries: number;
  /** Hexadecimal. */
  readonly digest: string;
}

export class ContentDigest {
  #sum = 0n;
  #entries = 0;

  add(key: Uint8Array, value: Uint8Array): void {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(key.length);
    // Without the length, bytes could move between key and value.
    const entry = createHash('sha256').update(length).update(key).update(value).digest('hex');
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${entry}`));
    this.#entries++;
  }

  summary(): ContentSummary {
    const sum = Buffer.from(this.#sum.toString(16).padStart(64, '0'), 'hex');
    return { entries: this.#entries, digest: hash('sha256', sum, 'hex') };
  }
}

/**
 * Keys that change while nothing happens in a control plane, and that a restored one writes at once: Events (each has a lease and
 * expires), Leases of nodes and leader elections, the leases of API servers in the Service `kubernetes`, and keys that do not start with
 * a slash, in which API servers note compactions.
 */
const volatilePrefixes = ['/registry/events/', '/registry/leases/', '/registry/masterleases/'].map((one) =>
  Buffer.from(one, 'latin1'),
);
const slash = 0x2f;

/** Reports whether a key is left out of the digest of a control plane. */
export const isVolatile = (key: Uint8Array): boolean =>
  key[0] !== slash ||
  volatilePrefixes.some((prefix) => key.length >= prefix.length && prefix.compare(key, 0, prefix.length) === 0);

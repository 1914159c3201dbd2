/**
 * Bitmap of allocated node ports, in the form of Kubernetes' RangeAllocation, so that a kube-apiserver on the same data can read it. `data`
 * is one big-endian number without leading zeros; its lowest bit stands for the first port:
 *
 *   range 30000-32767, data 0x06  →  30001 and 30002 are taken
 */

import type { Random } from '@hangar/core';

export const defaultPortRange = '30000-32767';

export type Refusal = 'taken' | 'outside';

export class PortRange {
  /** `30000-32767`. */
  readonly text: string;
  readonly #first: number;
  readonly #size: number;
  /** Lowest bits first. */
  readonly #bits: Uint8Array;
  /** Size of the static band: ports that are not requested explicitly are taken above it while there are any. */
  readonly #staticBand: number;

  constructor(text: string, data: Uint8Array = new Uint8Array()) {
    const [first, last] = text.split('-').map(Number);
    this.text = text;
    this.#first = first!;
    this.#size = last! - first! + 1;
    this.#bits = new Uint8Array(Math.max(Math.ceil(this.#size / 8), data.length));
    this.#bits.set(data.toReversed());
    this.#staticBand = staticBand(this.#size);
  }

  get data(): Uint8Array {
    const bytes = this.#bits.toReversed();
    const from = bytes.findIndex((byte) => byte !== 0);
    return from < 0 ? new Uint8Array() : bytes.subarray(from);
  }

  has(port: number): boolean {
    return this.#contains(port) && this.#bit(port - this.#first);
  }

  /** Takes a port. Returns undefined on success, else the reason. */
  take(port: number): Refusal | undefined {
    if (!this.#contains(port)) return 'outside';
    if (this.#bit(port - this.#first)) return 'taken';
    this.#set(port - this.#first, true);
    return undefined;
  }

  /** Takes any free port; undefined if none is left. */
  takeAny(random: Random): number | undefined {
    const band = this.#staticBand;
    const at = this.#free(band, this.#size - band, random) ?? this.#free(0, band, random);
    if (at === undefined) return undefined;
    this.#set(at, true);
    return this.#first + at;
  }

  release(port: number): void {
    if (this.#contains(port)) this.#set(port - this.#first, false);
  }

  #free(from: number, count: number, random: Random): number | undefined {
    if (count <= 0) return undefined;
    const start = random.below(count);
    for (let i = 0; i < count; i++) {
      const at = from + ((start + i) % count);
      if (!this.#bit(at)) return at;
    }
    return undefined;
  }

  #contains(port: number): boolean {
    return port >= this.#first && port < this.#first + this.#size;
  }

  #bit(at: number): boolean {
    return (this.#bits[at >> 3]! & (1 << (at & 7))) !== 0;
  }

  #set(at: number, isTaken: boolean): void {
    const mask = 1 << (at & 7);
    this.#bits[at >> 3] = isTaken ? this.#bits[at >> 3]! | mask : this.#bits[at >> 3]! & ~mask;
  }
}

/** Returns the size of the static band: a thirty-second of the range, 16 to 128 ports; small ranges have none. */
function staticBand(size: number): number {
  if (size <= 16) return 0;
  return Math.min(128, Math.max(16, Math.floor(size / 32)));
}

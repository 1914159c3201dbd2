/** Addresses of 127.0.0.0/8 for pods and Services. All of them reach this machine without any set-up. */

import { createHash } from 'node:crypto';
import { ProcessRuntimeError } from '../errors.ts';

/** A network of loopback addresses: `127.64.0.0/16`. */
export class AddressPool {
  readonly #first: number;
  readonly #size: number;
  readonly #taken = new Set<number>();
  /** Cycles through the network, so that an address is not reused right after its pod is deleted. */
  #next = 1;

  /** Throws TypeError for a network that is not part of 127.0.0.0/8. */
  constructor(network: string) {
    const [, address, bits] = /^(127\.\d+\.\d+\.\d+)\/(\d+)$/.exec(network) ?? [];
    const length = Number(bits);
    if (address === undefined || length < 8 || length > 30) {
      throw new TypeError(`network ${JSON.stringify(network)} must be a part of 127.0.0.0/8, such as 127.64.0.0/16`);
    }
    this.#size = 2 ** (32 - length);
    this.#first = Math.floor(numberOf(address) / this.#size) * this.#size;
  }

  /** Throws `NoAddress`. */
  take(): string {
    for (let tried = 0; tried < this.#size; tried++) {
      const offset = this.#next;
      this.#next = this.#next >= this.#size - 2 ? 1 : this.#next + 1;
      if (this.#taken.has(offset)) continue;
      this.#taken.add(offset);
      return textOf(this.#first + offset);
    }
    throw new ProcessRuntimeError('NoAddress', `all ${this.#size} addresses of the network are in use`);
  }

  /** Takes this address. Returns false if it is in use or is not part of the network. */
  reserve(address: string): boolean {
    const offset = numberOf(address) - this.#first;
    if (!(offset > 0 && offset < this.#size - 1) || this.#taken.has(offset)) return false;
    this.#taken.add(offset);
    return true;
  }

  release(address: string): void {
    this.#taken.delete(numberOf(address) - this.#first);
  }
}

/** Returns networks that differ between runtimes of one machine, and stay the same after a restart. */
export function defaultNetworks(seed: string): { readonly pods: string; readonly services: string } {
  const part = createHash('sha256').update(seed).digest()[0]! % 64;
  return { pods: `127.${64 + part}.0.0/16`, services: `127.${128 + part}.0.0/16` };
}

const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const textOf = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');

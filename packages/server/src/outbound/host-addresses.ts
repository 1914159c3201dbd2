/**
 * The addresses of the machine that this server runs on. A connection to one of them is local: firewalls between machines do not
 * see it, and services that listen on all interfaces for other purposes (stores, metrics, agents) answer it.
 */

import { networkInterfaces } from 'node:os';
import { BlockList, isIP } from 'node:net';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';

/** Interfaces rarely change; reading them takes some tens of microseconds. */
const refreshMs = 1_000;

/** Lists the addresses of all interfaces, as the operating system reports them. */
const systemAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

export class HostAddresses {
  readonly #clock: Clock;
  readonly #read: () => readonly string[];
  #known = new BlockList();
  #readAtMs = Number.NEGATIVE_INFINITY;

  /** `read` replaces the operating system's list in tests. */
  constructor({ clock = systemClock, read = systemAddresses }: { clock?: Clock; read?: () => readonly string[] } = {}) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Reports whether an address without a zone belongs to an interface; the list is at most a second old. */
  has(address: string, family: 'ipv4' | 'ipv6'): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#readAtMs >= refreshMs) {
      this.#readAtMs = nowMs;
      this.#known = blockListOf(this.#read());
    }
    return this.#known.check(address, family);
  }
}

function blockListOf(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const address of addresses) {
    const plain = address.split('%', 1)[0]!;
    const version = isIP(plain);
    if (version !== 0) list.addAddress(plain, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * Addresses of the servers that share a store. Each server writes its address with a lease and renews it while it runs:
 *
 *     /registry/hangar/servers/5b1c… → 10.0.0.7
 *
 * The address of a server that crashed disappears when its lease expires, that of a server that stops at once.
 */

import { detachedClock, hasCode, uuid } from '@hangar/core';
import type { Clock, Random, Timer } from '@hangar/core';
import type { LeaseId, Store } from '@hangar/store';
import { StoreFollower } from '../../objects/store-follower.ts';
import { serverAddressesPrefix } from '../layout.ts';
import type { AdvertisedAddresses } from './kept-endpoints.ts';

export interface ServerAddressesOptions {
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly serviceAddress: string;
  /** IP address of this server. */
  readonly address: string;
  readonly onError: (error: Error) => void;
}

/** As in kube-apiserver: the lease of a server lasts 15 seconds. */
const leaseMs = 15_000;
const renewEveryMs = 5_000;

export class ServerAddresses implements AdvertisedAddresses {
  readonly #options: ServerAddressesOptions;
  readonly #clock: Clock;
  readonly #key: string;
  readonly #byKey = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #follower: StoreFollower;
  #lease: LeaseId | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ServerAddressesOptions) {
    const { store, clock, storePrefix, random } = options;
    this.#options = options;
    this.#clock = detachedClock(clock);
    const prefix = serverAddressesPrefix(storePrefix);
    this.#key = `${prefix}${uuid(random)}`;
    this.#follower = new StoreFollower({ store, clock }, prefix, {
      put: ({ key, value }) => this.#put(key, Buffer.from(value).toString()),
      delete: (key) => this.#delete(key),
      retain: (keys) => {
        for (const key of this.#byKey.keys()) if (!keys.has(key)) this.#delete(key);
      },
    });
  }

  get serviceAddress(): string {
    return this.#options.serviceAddress;
  }

  /** Resolves when the addresses of the other servers are known. */
  async start(): Promise<void> {
    await this.#renew();
    await this.#follower.start();
  }

  /** This server is included although its lease may have expired while the store was unavailable. Sorted: the same on all servers. */
  current(): readonly string[] {
    const { address } = this.#options;
    const isSameFamily = (one: string): boolean => one.includes(':') === address.includes(':');
    return [...new Set([address, ...this.#byKey.values()])].filter(isSameFamily).sort();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Withdraws the address of this server. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#follower.close();
    if (this.#lease !== undefined) await this.#options.store.revokeLease(this.#lease).catch(() => {});
  }

  async #renew(): Promise<void> {
    try {
      await this.#keepLease();
    } catch (error) {
      this.#options.onError(error as Error);
    }
    if (!this.#isClosed) this.#timer = this.#clock.after(renewEveryMs, () => void this.#renew());
  }

  async #keepLease(): Promise<void> {
    const { store, address } = this.#options;
    if (this.#lease !== undefined) {
      try {
        return await store.renewLease(this.#lease);
      } catch (error) {
        if (!hasCode(error, 'LeaseNotFound')) throw error;
      }
    }
    const { id } = await store.grantLease(leaseMs);
    await store.commit([{ type: 'put', key: this.#key, value: Buffer.from(address), lease: id }]);
    this.#lease = id;
  }

  #put(key: string, address: string): void {
    if (this.#byKey.get(key) === address) return;
    this.#byKey.set(key, address);
    this.#changed();
  }

  #delete(key: string): void {
    if (this.#byKey.delete(key)) this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The addresses of a server that does not share its store. */
export const soleAddress = (serviceAddress: string, address: string): AdvertisedAddresses => ({
  serviceAddress,
  current: () => [address],
  onChange: () => () => {},
});

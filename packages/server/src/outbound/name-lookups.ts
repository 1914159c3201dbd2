/**
 * Limits the lookups of names that tenants choose. The resolver of the system blocks a thread of the pool that all file operations of the
 * process share: four slow names would stop them.
 */

import type { LookupAddress, LookupOptions } from 'node:dns';
import { quote } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { Resolver } from './connector.ts';
import { OutboundError } from './errors.ts';

/** Lookups of all control planes at the same time: half of the threads. */
const totalMax = 2;
const ownMax = 1;
/** Results and errors are reused for this time. */
const keptMs = 30_000;
const keptMax = 256;

type Callback = Parameters<Resolver>[2];

interface Lookup {
  readonly expiresMs: number;
  readonly error: NodeJS.ErrnoException | null;
  readonly addresses: LookupAddress[];
}

/** The lookups of all control planes of a process that are in progress. */
export class TotalLookups {
  open = 0;
}

/** Lookups for one control plane. */
export class NameLookups {
  readonly #plane: string;
  readonly #clock: Clock;
  readonly #total: TotalLookups;
  readonly #kept = new Map<string, Lookup>();
  readonly #waiting = new Map<string, Callback[]>();

  constructor({ plane, clock, total }: { plane: string; clock: Clock; total: TotalLookups }) {
    this.#plane = plane;
    this.#clock = clock;
    this.#total = total;
  }

  /** Returns a resolver with these limits. Beyond them, it fails with an OutboundError at once. */
  limited(resolver: Resolver): Resolver {
    return (name, options, callback) => {
      const kept = this.#kept.get(name);
      if (kept && kept.expiresMs > this.#clock.monotonicMs()) return callback(kept.error, kept.addresses);
      const waiting = this.#waiting.get(name);
      if (waiting) return void waiting.push(callback);
      if (this.#waiting.size >= ownMax || this.#total.open >= totalMax) return callback(this.#refusal(name), []);
      this.#start(resolver, name, options, callback);
    };
  }

  #start(resolver: Resolver, name: string, options: LookupOptions & { all: true }, callback: Callback): void {
    const callbacks = [callback];
    this.#waiting.set(name, callbacks);
    this.#total.open++;
    resolver(name, options, (error, addresses) => {
      this.#total.open--;
      this.#waiting.delete(name);
      if (this.#kept.size >= keptMax) this.#kept.clear();
      this.#kept.set(name, { expiresMs: this.#clock.monotonicMs() + keptMs, error, addresses });
      for (const one of callbacks) one(error, addresses);
    });
  }

  #refusal(name: string): OutboundError {
    const why = `too many lookups of node names are in progress for control plane ${quote(this.#plane)} or for this server`;
    return new OutboundError(
      'Unreachable',
      `dial tcp: lookup ${name}: ${why}; report the address InternalIP in the Node`,
    );
  }
}

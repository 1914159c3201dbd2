/**
 * Connections inside one process that a test can delay, cut and partition. Addresses are only names.
 */

import { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { abortError } from '../errors.ts';
import type { Random } from '../random.ts';
import type { Address, Listener, Transport } from '../transport.ts';

export interface VirtualNetworkOptions {
  clock: Clock;
  random: Random;
  /** Every chunk takes up to this long; chunks of one direction keep their order. */
  latencyMaxMs?: number;
}

export class VirtualNetwork implements Transport {
  readonly #options: Required<VirtualNetworkOptions>;
  readonly #listeners = new Map<string, (connection: Duplex) => void>();
  readonly #connections = new Map<string, Set<Duplex>>();
  readonly #unreachable = new Set<string>();
  #nextPort = 40_000;

  constructor(options: VirtualNetworkOptions) {
    this.#options = { latencyMaxMs: 1, ...options };
  }

  /** Resets every connection to this address; new ones are refused until `heal`. */
  cut(address: Address): void {
    this.#unreachable.add(nameOf(address));
    this.reset(address);
  }

  /** Resets the connections to this address; new ones are accepted at once. */
  reset(address: Address): void {
    for (const end of this.#connections.get(nameOf(address)) ?? []) end.destroy(networkError('ECONNRESET', address));
  }

  heal(address: Address): void {
    this.#unreachable.delete(nameOf(address));
  }

  async connect(address: Address, signal?: AbortSignal): Promise<Duplex> {
    await this.#delay();
    if (signal?.aborted) throw abortError(signal);
    const accept = this.#listeners.get(nameOf(address));
    if (!accept || this.#unreachable.has(nameOf(address))) throw networkError('ECONNREFUSED', address);
    const [near, far] = this.#pair();
    const ends = this.#connections.get(nameOf(address)) ?? new Set();
    this.#connections.set(nameOf(address), ends);
    for (const end of [near, far]) {
      ends.add(end);
      end.once('close', () => ends.delete(end));
    }
    accept(far);
    return near;
  }

  async listen(wanted: Address, accept: (connection: Duplex) => void): Promise<Listener> {
    const address = { host: wanted.host, port: wanted.port || this.#nextPort++ };
    if (this.#listeners.has(nameOf(address))) throw networkError('EADDRINUSE', address);
    this.#listeners.set(nameOf(address), accept);
    return {
      address,
      close: async () => {
        this.#listeners.delete(nameOf(address));
        this.reset(address);
      },
    };
  }

  #pair(): [Duplex, Duplex] {
    const ends: Duplex[] = [];
    for (const side of [0, 1]) {
      const other = () => ends[1 - side]!;
      const end = new Duplex({
        read() {},
        write: (chunk, _encoding, done) => {
          this.#later(() => {
            if (!other().destroyed) other().push(chunk);
            done();
          });
        },
        final: (done) => {
          this.#later(() => {
            if (!other().destroyed) other().push(null);
            done();
          });
        },
        destroy: (error, done) => {
          if (!other().destroyed) other().destroy(error ?? undefined);
          done(error);
        },
      });
      end.on('error', () => {}); // a cut is expected here: users of the connection listen too
      ends.push(end);
    }
    return ends as [Duplex, Duplex];
  }

  #delay(): Promise<void> {
    return new Promise((done) => this.#later(done));
  }

  #later(action: () => void): void {
    const { clock, random, latencyMaxMs } = this.#options;
    clock.after(random.fraction() * latencyMaxMs, action);
  }
}

function nameOf(address: Address): string {
  return `${address.host}:${address.port}`;
}

function networkError(code: string, address: Address): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${nameOf(address)}`), { code });
}

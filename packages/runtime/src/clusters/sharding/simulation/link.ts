/**
 * The network between a peer and the API server: requests take time, are refused, get lost in either direction, or arrive very late;
 * watches lag, repeat events, break, or go silent.
 */

import { ClientError } from '@hangar/client';
import type { WatchEvent } from '@hangar/client';
import { chance } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';
import type { Lease, Leases } from '../leases.ts';
import type { Change, ModelServer } from './model-server.ts';
import type { PeerProcess } from './peer-process.ts';

export interface LinkQuality {
  readonly latencyMaxMs: number;
  readonly errorRate: number;
  /** Rate of duplicated events. */
  readonly repeatRate: number;
}

export interface LinkOptions {
  readonly world: Scheduler;
  readonly server: ModelServer;
  readonly process: PeerProcess;
  readonly random: Random;
  readonly quality: LinkQuality;
}

const lateMaxMs = 15_000;

export class Link implements Leases {
  readonly #options: LinkOptions;
  readonly #watches = new Set<ModelWatch>();
  isCut = false;
  /** Factor on all latencies. */
  slowness = 1;
  /** Maximum delay of responses; requests are not delayed. */
  answersLateMs = 0;
  failuresInARow = 0;
  /** Time of the last write of this peer on the server. */
  lastRenewedMs = 0;
  /** Time of the last fault that may cost its peer its clusters. */
  lastDisturbedMs = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  readonly list: Leases['list'] = () => this.#request((server) => server.list());
  readonly get: Leases['get'] = (name) => this.#request((server) => server.get(name));
  readonly write: Leases['write'] = (draft) =>
    this.#request((server) => {
      const written = server.write(draft);
      this.lastRenewedMs = this.#options.world.monotonicMs();
      return written;
    });
  readonly remove: Leases['remove'] = (name, resourceVersion) =>
    this.#request((server) => server.remove(name, resourceVersion));

  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<Lease>> {
    const watch = new ModelWatch(this, this.#options, Number(resourceVersion));
    this.#watches.add(watch);
    const end = (): void => {
      watch.end();
      this.#watches.delete(watch);
    };
    signal.addEventListener('abort', end, { once: true });
    return watch;
  }

  get isDisturbed(): boolean {
    return this.isCut || this.slowness > 1 || this.answersLateMs > 0;
  }

  disturbed(): void {
    this.lastDisturbedMs = this.#options.world.monotonicMs();
  }

  breakWatches(): void {
    for (const watch of this.#watches) watch.fail();
    this.#watches.clear();
  }

  delayMs(): number {
    const { random, quality } = this.#options;
    return random.fraction() * quality.latencyMaxMs * this.slowness;
  }

  /** Never settles when the request or its response is lost: callers must use a timeout. */
  #request<T>(act: (server: ModelServer) => T): Promise<T> {
    const { world, server, process, random, quality } = this.#options;
    return new Promise<T>((resolve, reject) => {
      const fail = (error: Error): void => {
        this.failuresInARow++;
        world.after(this.delayMs(), () => process.enter(() => reject(error)));
      };
      if (this.isCut && chance(random, 0.5)) return; // never arrives
      const lateMs = this.isCut ? random.fraction() * lateMaxMs : 0;
      const isFailing = chance(random, quality.errorRate);
      if (isFailing && chance(random, 0.5)) return fail(new ClientError('ConnectionFailed', 'refused'));
      world.after(this.delayMs() + lateMs, () => {
        let settle: () => void;
        try {
          const value = act(server);
          settle = () => resolve(value);
        } catch (error) {
          settle = () => reject(error);
        }
        if (isFailing) return fail(new ClientError('ConnectionLost', 'nobody knows'));
        world.after(this.delayMs() + random.fraction() * this.answersLateMs, () => {
          if (this.isCut || lateMs > 0) return; // the response is lost
          process.enter(() => {
            this.failuresInARow = 0;
            settle();
          });
        });
      });
    });
  }
}

/** Delivers events in order, each with a delay; none while the link is cut. */
class ModelWatch implements AsyncIterable<WatchEvent<Lease>>, AsyncIterator<WatchEvent<Lease>> {
  readonly #link: Link;
  readonly #options: LinkOptions;
  readonly #arrived: WatchEvent<Lease>[] = [];
  readonly #unfollow: () => void;
  #version: number;
  #isTravelling = false;
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(link: Link, options: LinkOptions, version: number) {
    this.#link = link;
    this.#options = options;
    this.#version = version;
    this.#unfollow = options.server.follow(() => this.#travel());
    this.#travel();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<WatchEvent<Lease>>> {
    for (;;) {
      const event = this.#arrived.shift();
      if (event) return { done: false, value: event };
      if (this.#failure) throw this.#failure;
      if (this.#isEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#unfollow();
    this.#wake?.();
  }

  fail(): void {
    const { process } = this.#options;
    this.#unfollow();
    this.#isEnded = true;
    process.enter(() => {
      this.#failure = new ClientError('ConnectionLost', 'the watch broke');
      this.#wake?.();
    });
  }

  #travel(): void {
    if (this.#isTravelling || this.#isEnded) return;
    const changes = this.#options.server.changesSince(this.#version);
    if (changes.length === 0) return;
    this.#isTravelling = true;
    this.#options.world.after(this.#link.delayMs(), () => this.#arrive(changes));
  }

  #arrive(changes: readonly Change[]): void {
    const { process, random, quality, world } = this.#options;
    if (this.#isEnded) return;
    if (this.#link.isCut) {
      // Retransmitted until it arrives.
      world.after(200, () => this.#arrive(changes));
      return;
    }
    this.#isTravelling = false;
    this.#version = changes.at(-1)!.version;
    process.enter(() => {
      for (const { event } of changes) {
        this.#arrived.push(event);
        if (chance(random, quality.repeatRate)) this.#arrived.push(event);
      }
      this.#wake?.();
    });
    this.#travel();
  }
}

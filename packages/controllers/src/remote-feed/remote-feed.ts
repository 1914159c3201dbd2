/**
 * The feed of all tenants out of another process: one stream of the management plane, followed over HTTP, told as a feed of this
 * process would be.
 *
 *     connect ──▶ hello ──▶ all Tenants, all that is stored ──▶ synced ──▶ what happens
 *        ▲                                                                    │
 *        └── back-off ◀── the stream broke, ended or was silent for 30 s ◀────┘
 *
 * A stream never goes on where another ended: what is told after a break is everything, and `reset` comes before it, though not before
 * the first stream. Between two streams there are no control planes (`has`), so that nothing is done on what may be outdated.
 *
 * Other than by the feed of the server's own process, nothing is told of the management plane (`has` of `root` is false), and Secrets
 * come without what is secret in them. Who follows needs the rights `get` and `create` of `tenants/feed`.
 */

import { ClientError } from '@hangar/client';
import type { Client } from '@hangar/client';
import { asError, assert, backOffMs, breathe, sleep } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { FeedListener, FleetFeed } from '../contract.ts';
import { openFeed } from './request.ts';
import { Retelling } from './retelling.ts';
import { ToldLines } from './told-lines.ts';

export interface RemoteFeedOptions {
  /** Of the management plane. Not closed by the feed. */
  readonly client: Pick<Client, 'raw'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Opens nothing before it is followed. */
export const remoteFeed = (options: RemoteFeedOptions): FleetFeed => new RemoteFeed(options);

/** A new stream makes the server read everything. */
const backOff = { baseMs: 200, maxMs: 30_000 };
/** For how long lines are told without giving way. */
const sliceMs = 4;

class RemoteFeed implements FleetFeed {
  readonly #options: RemoteFeedOptions;
  readonly #clusters = new Set<string>();
  readonly #retelling: Retelling;
  #isFollowed = false;
  /** Something was told by an earlier stream. */
  #isStale = false;

  constructor(options: RemoteFeedOptions) {
    this.#options = options;
    this.#retelling = new Retelling(options);
  }

  async follow(listener: FeedListener, signal: AbortSignal): Promise<void> {
    assert(!this.#isFollowed, 'a feed can have only one listener at a time');
    this.#isFollowed = true;
    this.#isStale = false;
    const { clock, random, log } = this.#options;
    try {
      for (let failures = 0; !signal.aborted;) {
        const stream = new RemoteStream();
        const onAbort = (): void => stream.end(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        const why = await this.#tellAll(stream, listener).catch(asError);
        signal.removeEventListener('abort', onAbort);
        this.#ended(stream, why);
        if (signal.aborted) return;
        const error = asError(stream.reason);
        // What fails again as soon as it has begun must not make the server read everything over and over.
        failures = clock.monotonicMs() - stream.syncedMs > backOff.maxMs ? 1 : failures + 1;
        const delayMs = Math.ceil(backOffMs(backOff, failures, random));
        log.warn('tenant feed disconnected, resyncing', { error, failures, delayMs });
        listener.interrupted?.(error);
        await sleep(clock, delayMs, signal).catch(() => undefined);
      }
    } finally {
      this.#isFollowed = false;
    }
  }

  has(cluster: string): boolean {
    return this.#clusters.has(cluster);
  }

  retell(cluster: string): void {
    this.#retelling.ask(cluster);
  }

  /** Answers why it is over, or rejects with it. */
  async #tellAll(stream: RemoteStream, listener: FeedListener): Promise<Error> {
    const { client, clock } = this.#options;
    const answer = await openFeed(client, stream.signal);
    const lines = new ToldLines({
      listener,
      clusters: this.#clusters,
      retelling: this.#retelling,
      onHello: (session) => this.#begun(stream, session, listener),
      onSynced: () => (stream.syncedMs = clock.monotonicMs()),
    });
    let sinceMs = clock.monotonicMs();
    for await (const chunk of answer.stream()) {
      if (stream.signal.aborted) break;
      lines.push(chunk);
      if (clock.monotonicMs() - sinceMs <= sliceMs) continue;
      // Chunks that are here already come without waiting: others must have their turn.
      await breathe(clock);
      sinceMs = clock.monotonicMs();
    }
    return new ClientError('ConnectionLost', 'the server closed the tenant feed');
  }

  #begun(stream: RemoteStream, session: string, listener: FeedListener): void {
    if (this.#isStale) listener.reset();
    this.#isStale = true;
    this.#retelling.begin({ session, signal: stream.signal, failed: (error) => stream.end(error) });
  }

  #ended(stream: RemoteStream, why: Error): void {
    stream.end(why);
    this.#clusters.clear();
    this.#retelling.end();
  }
}

/** One connection, and how it is ended from here. */
class RemoteStream {
  readonly #ending = new AbortController();
  syncedMs = Infinity;
  /** Why it has ended; undefined: it has not. */
  reason: unknown;

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  end(reason: unknown): void {
    if (this.signal.aborted) return;
    this.reason = reason;
    this.#ending.abort(reason);
  }
}

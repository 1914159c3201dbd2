/**
 * The feed of all tenants from another process: one HTTP stream of the management plane, delivered like a feed in this process.
 *
 *     connect ──▶ hello ──▶ all Tenants, all stored objects ──▶ synced ──▶ changes
 *        ▲                                                                    │
 *        └── back-off ◀── the stream broke, closed or was silent for 30 s ◀───┘
 *
 * A stream never resumes another: after a break, `reset` and all objects follow; the first stream has no `reset`. Between two streams `has`
 * is false for all control planes, so that no action is based on outdated state.
 *
 * Unlike the feed in the process of the server, it does not cover the management plane (`has` of `root` is false), and Secrets come without
 * their data. It requires the permissions `get` and `create` of `tenants/feed`.
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
  /** Client of the management plane. Not closed by the feed. */
  readonly client: Pick<Client, 'raw'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Connects when it is followed. */
export const remoteFeed = (options: RemoteFeedOptions): FleetFeed => new RemoteFeed(options);

/** A new stream makes the server read all objects. */
const backOff = { baseMs: 200, maxMs: 30_000 };
/** Maximum time of processing lines before it yields. */
const sliceMs = 4;

class RemoteFeed implements FleetFeed {
  readonly #options: RemoteFeedOptions;
  readonly #clusters = new Set<string>();
  readonly #retelling: Retelling;
  #isFollowed = false;
  /** True if an earlier stream delivered something. */
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
        // Streams that fail soon after the start must not make the server read everything repeatedly.
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

  /** Resolves with the reason for which the stream closed, or rejects with it. */
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
      // Buffered chunks arrive without waiting: yield to other tasks.
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

/** One connection that can be closed locally. */
class RemoteStream {
  readonly #ending = new AbortController();
  syncedMs = Infinity;
  /** Reason for which it closed; undefined: it is open. */
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

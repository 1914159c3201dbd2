/**
 * A connection to any of several equal servers: at most one at a time, opened on demand. Servers are tried in turn. After a whole round
 * without success, rounds are spaced by a growing, jittered pause, so that the clients of a restarted cluster do not reconnect all at once.
 */

import { sleep } from '@hangar/core';
import type { Clock, Random, Timer } from '@hangar/core';
import { GrpcError, grpcStatus } from '@hangar/http2/grpc';
import type { Connection } from './connection.ts';
import type { Endpoint } from './endpoint.ts';

export interface ChannelOptions {
  endpoints: readonly Endpoint[];
  clock: Clock;
  random: Random;
  /** Rejects with a GrpcError. */
  open(endpoint: Endpoint, signal: AbortSignal): Promise<Connection>;
}

const pauseMinMs = 50;
const pauseMaxMs = 1_000;

export class Channel {
  readonly #options: ChannelOptions;
  readonly #closing = new AbortController();
  #place: number;
  #connection: Connection | undefined;
  #attempt: Promise<void> | undefined;
  /** Number of consecutive failures since the last success. */
  #failures = 0;
  #lastError: GrpcError | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#place = options.random.below(options.endpoints.length);
  }

  get endpointCount(): number {
    return this.#options.endpoints.length;
  }

  /** The open connection, for callers that cannot wait. */
  get current(): Connection | undefined {
    return this.#connection?.usable ? this.#connection : undefined;
  }

  /** Waits for a connection until `deadlineMs` (of the monotonic clock), then rejects with the last error. */
  async connected(deadlineMs: number): Promise<Connection> {
    for (;;) {
      if (this.#closing.signal.aborted) {
        throw new GrpcError(grpcStatus.cancelled, 'the client is closed', { fate: 'unsent' });
      }
      if (this.current) return this.current;
      if (this.#connection) this.failed(this.#connection);
      this.#attempt ??= this.#tryOne().finally(() => (this.#attempt = undefined));
      if (!(await this.#inTime(this.#attempt, deadlineMs))) {
        const message = this.#lastError?.message ?? 'timed out waiting for a connection';
        const status = this.#lastError?.status ?? grpcStatus.unavailable;
        throw new GrpcError(status, message, { fate: 'unsent', cause: this.#lastError });
      }
      // A server that refuses the credentials will do so again: waiting until the deadline would only hide the reason.
      if (this.#lastError?.status === grpcStatus.unauthenticated && !this.current) throw this.#lastError;
    }
  }

  /** Called when a connection proved unusable: the next one goes to another server. */
  failed(connection: Connection): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    connection.retire();
    this.#next();
  }

  /** Called when a call succeeded. */
  worked(): void {
    this.#failures = 0;
    this.#lastError = undefined;
  }

  close(): void {
    this.#closing.abort();
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  #next(): void {
    this.#failures++;
    this.#place = (this.#place + 1) % this.#options.endpoints.length;
  }

  /** Never rejects. */
  async #tryOne(): Promise<void> {
    const { endpoints, clock } = this.#options;
    const { signal } = this.#closing;
    try {
      const pauseMs = this.#pauseMs();
      if (pauseMs > 0) await sleep(clock, pauseMs, signal);
      const connection = await this.#options.open(endpoints[this.#place]!, signal);
      if (signal.aborted) return connection.destroy();
      this.#connection = connection;
      this.#lastError = undefined;
    } catch (error) {
      if (error instanceof GrpcError) this.#lastError = error;
      this.#next();
    }
  }

  #pauseMs(): number {
    const rounds = Math.floor(this.#failures / this.#options.endpoints.length);
    if (rounds === 0) return 0;
    const fullMs = Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(rounds - 1, 10));
    return fullMs * (0.5 + this.#options.random.fraction() / 2);
  }

  /** Returns false if the deadline came first. */
  async #inTime(attempt: Promise<void>, deadlineMs: number): Promise<boolean> {
    if (deadlineMs === Infinity) return attempt.then(() => true);
    const { clock } = this.#options;
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) return false;
    let timer: Timer | undefined;
    const late = new Promise<boolean>((resolve) => (timer = clock.after(leftMs, () => resolve(false))));
    const inTime = await Promise.race([attempt.then(() => true), late]);
    timer?.cancel();
    return inTime;
  }
}

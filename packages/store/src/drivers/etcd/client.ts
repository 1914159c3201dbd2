/**
 * Calls to an etcd cluster: fail-over between members, tokens, bounded waiting, and the one rule about repeating:
 *
 * A call is repeated only when it is certain that it was not executed, or when repeating does no harm (`repeatable`). A commit whose
 * connection broke is neither: it rejects with `Unavailable`, and may have happened.
 */

import { sleep } from '@hangar/core';
import type { Clock, Random, Transport } from '@hangar/core';
import { GrpcError, grpcStatus } from '@hangar/http2/grpc';
import { closed, StoreError } from '../../errors.ts';
import { Credentials } from './credentials.ts';
import type { PasswordOptions } from './credentials.ts';
import { Channel } from './grpc/channel.ts';
import { openConnection } from './grpc/connection.ts';
import type { Call, Connection, StreamHandler } from './grpc/connection.ts';
import type { Endpoint, TlsOptions } from './grpc/endpoint.ts';
import { authenticateMethod, decodeToken, encodeAuthenticate } from './messages/auth.ts';
import { judge } from './verdict.ts';

export interface ClientOptions {
  endpoints: readonly Endpoint[];
  tls: TlsOptions | undefined;
  auth: PasswordOptions | undefined;
  clock: Clock;
  random: Random;
  transport: Transport;
  requestTimeoutMs: number;
}

export interface Request<T> {
  method: string;
  /** The message with gRPC's prefix. */
  frame: Uint8Array;
  decode(answer: Buffer): T;
  /** The call is idempotent. */
  repeatable: boolean;
  /** The member answers from its own state, also when there is no leader. */
  withoutLeader?: boolean;
  /** Absent: the time limit of the client. */
  timeoutMs?: number;
}

const tokensPerCallMax = 3;
const pauseMinMs = 20;
const pauseMaxMs = 250;

export class Client {
  readonly #options: ClientOptions;
  readonly requests: Channel;
  /** A separate connection, so that no watch ever waits behind a large answer. */
  readonly watches: Channel;
  readonly #credentials: Credentials | undefined;
  readonly #closing = new AbortController();
  #unrepeatable = 0;
  #settled: (() => void) | undefined;

  constructor(options: ClientOptions) {
    const { auth } = options;
    this.#options = options;
    this.requests = this.#channel();
    this.watches = this.#channel();
    if (auth) this.#credentials = new Credentials((deadlineMs) => this.#authenticate(auth, deadlineMs));
  }

  get requestTimeoutMs(): number {
    return this.#options.requestTimeoutMs;
  }

  /** Milliseconds of the clock that deadlines are compared with. */
  now(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Answers within the time limit or rejects with a StoreError. */
  async call<T>(request: Request<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closed();
    const deadlineMs = this.#options.clock.monotonicMs() + (request.timeoutMs ?? this.requestTimeoutMs);
    if (request.repeatable) return this.#call(request, deadlineMs, this.#credentials);
    this.#unrepeatable++;
    try {
      return await this.#call(request, deadlineMs, this.#credentials);
    } finally {
      if (--this.#unrepeatable === 0) this.#settled?.();
    }
  }

  /** Opens a long-lived call. Rejects with a StoreError or a GrpcError. */
  async stream(connection: Connection, method: string, handler: StreamHandler): Promise<Call> {
    const token = await this.#credentials?.token(this.#options.clock.monotonicMs() + this.requestTimeoutMs);
    return connection.stream(method, { metadata: metadata(token) }, handler);
  }

  /** Returns a connection for `stream` as soon as there is one. Rejects with `Unauthenticated` or `Closed`. */
  connected(channel: Channel, deadlineMs = Infinity): Promise<Connection> {
    return this.#connected(channel, deadlineMs);
  }

  /** Called when a stream was refused because of its token. Returns false if another token cannot be requested. */
  renewToken(): boolean {
    const token = this.#credentials?.current;
    if (token !== undefined) this.#credentials!.expired(token);
    return this.#credentials !== undefined;
  }

  /** Resolves when no call that changes data is in progress. */
  async settled(): Promise<void> {
    if (this.#unrepeatable > 0) await new Promise<void>((resolve) => (this.#settled = resolve));
  }

  /** Fails every call in progress with `Closed`. */
  close(): void {
    this.#closing.abort();
    this.requests.close();
    this.watches.close();
  }

  #channel(): Channel {
    const { endpoints, clock, random, tls, transport, requestTimeoutMs } = this.#options;
    // Short enough that a request survives one unresponsive member.
    const silenceMs = Math.min(1_500, requestTimeoutMs * 0.3);
    return new Channel({
      endpoints,
      clock,
      random,
      open: (endpoint, signal) =>
        openConnection({ endpoint, tls, transport, clock, connectTimeoutMs: silenceMs, silenceMs, signal }),
    });
  }

  async #call<T>(request: Request<T>, deadlineMs: number, credentials: Credentials | undefined): Promise<T> {
    const { method, frame } = request;
    for (let attempt = 1; ; attempt++) {
      const connection = this.requests.current ?? (await this.#connected(this.requests, deadlineMs));
      const token = credentials && (credentials.current ?? (await credentials.token(deadlineMs)));
      try {
        const timeoutMs = this.#leftMs(deadlineMs);
        const answer = await connection.unary(method, frame, {
          timeoutMs,
          metadata: metadata(token, request.withoutLeader),
        });
        this.requests.worked();
        return request.decode(answer);
      } catch (error) {
        if (this.#closing.signal.aborted) throw closed();
        const verdict = judge(error);
        if (verdict.remedy === 'elsewhere') this.#leave(connection);
        if (verdict.remedy === 'authenticate' && token !== undefined && attempt < tokensPerCallMax) {
          credentials!.expired(token);
          continue;
        }
        const harmless = verdict.executed === 'no' || request.repeatable;
        const mayRepeat = verdict.code === 'Unavailable' && verdict.remedy !== 'less' && harmless;
        if (!mayRepeat || !(await this.#pause(attempt, deadlineMs))) throw verdict.error;
      }
    }
  }

  /** Throws if no time is left. */
  #leftMs(deadlineMs: number): number {
    const leftMs = deadlineMs - this.#options.clock.monotonicMs();
    if (leftMs <= 0)
      throw new GrpcError(grpcStatus.deadlineExceeded, 'the deadline of the request has passed', { fate: 'unsent' });
    return leftMs;
  }

  async #connected(channel: Channel, deadlineMs: number): Promise<Connection> {
    try {
      return await channel.connected(deadlineMs);
    } catch (error) {
      if (this.#closing.signal.aborted) throw closed();
      const verdict = judge(error);
      if (verdict.code !== 'Unavailable') throw verdict.error;
      const message = `no etcd member answered within ${this.requestTimeoutMs} ms: ${(error as GrpcError).message}`;
      throw new StoreError('Unavailable', message, { cause: error });
    }
  }

  /** A single member is kept while its connection is usable: there is no alternative. */
  #leave(connection: Connection): void {
    if (this.requests.endpointCount > 1 || !connection.usable) this.requests.failed(connection);
  }

  /** Waits with jitter and growing delays. Returns false if no time is left for another attempt. */
  async #pause(attempt: number, deadlineMs: number): Promise<boolean> {
    const { clock, random } = this.#options;
    const pauseMs = Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(attempt - 1, 10)) * (0.5 + random.fraction() / 2);
    if (clock.monotonicMs() + pauseMs >= deadlineMs) return false;
    await sleep(clock, pauseMs, this.#closing.signal).catch(() => {
      throw closed();
    });
    return true;
  }

  async #authenticate({ username, password }: PasswordOptions, deadlineMs: number): Promise<string> {
    const frame = encodeAuthenticate(username, password);
    const request = { method: authenticateMethod, frame, decode: decodeToken, repeatable: true };
    try {
      return await this.#call(request, deadlineMs, undefined);
    } catch (error) {
      // Authentication is disabled in the cluster: no token is needed.
      const cause = (error as StoreError).cause as Error | undefined;
      if (cause?.message === 'etcdserver: authentication is not enabled') return '';
      throw error;
    }
  }
}

/** Calls require a member with a leader: a member without one fails the call at once instead of blocking it. */
function metadata(token: string | undefined, withoutLeader = false): Record<string, string> {
  return { ...(withoutLeader ? {} : { hasleader: 'true' }), ...(token ? { token } : {}) };
}

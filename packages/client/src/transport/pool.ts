/**
 * The connections to one server. The first one negotiates the protocol. HTTP/2 connections are opened on demand: one more when none has
 * room, up to a limit; above it, requests wait in FIFO order. Connections are opened one at a time; if that fails, all waiting requests
 * fail: retries are up to the caller.
 */

import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { Connection, ConnectionEvents, Outbound } from './connection.ts';
import type { Dialed, Dialer } from './dial.ts';
import type { Exchange } from './exchange.ts';
import { Http1Connection } from './http1.ts';
import { openHttp2 } from './http2.ts';

export interface PoolOptions {
  readonly dialer: Dialer;
  readonly authority: string;
  readonly clock: Clock;
  /** HTTP/2 connections, each with as many requests as the server allows. */
  readonly http2ConnectionsMax: number;
  /** HTTP/1.1 connections, without those of watches. */
  readonly http1ConnectionsMax: number;
  readonly readIdleMs: number;
  readonly pingTimeoutMs: number;
  readonly idleMs: number;
}

interface Waiting {
  readonly request: Outbound;
  readonly exchange: Exchange;
}

export class Pool implements ConnectionEvents {
  readonly #options: PoolOptions;
  readonly #closing = new AbortController();
  /** Includes retired connections until they are closed. */
  readonly #connections = new Set<Connection>();
  /** Watches have a separate queue: short requests overtake them and use the reserved room. */
  readonly #waitingLong = new Set<Waiting>();
  readonly #waitingShort = new Set<Waiting>();
  #isOpening = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts the request, or queues it until there is room. The exchange receives the outcome. */
  send(request: Outbound, exchange: Exchange): void {
    if (exchange.isOver) return;
    if (this.#closing.signal.aborted) return exchange.fail(this.#closing.signal.reason as Error);
    const queue = request.isLong ? this.#waitingLong : this.#waitingShort;
    // FIFO: earlier waiters go first.
    const connection = queue.size === 0 ? this.#withRoom(request.isLong) : undefined;
    if (connection) return connection.begin(request, exchange);
    const waiting = { request, exchange };
    if (!exchange.begin({ cancel: () => queue.delete(waiting) })) return;
    queue.add(waiting);
    this.#grow();
  }

  /** Directs new requests to new connections, which use the current credentials. */
  retire(): void {
    for (const connection of this.#connections) connection.retire();
  }

  close(): void {
    const closed = new ClientError('ConnectionFailed', 'the client is closed');
    this.#closing.abort(closed);
    this.#failWaiting(this.#waiting(), closed);
    for (const connection of this.#connections) connection.destroy(closed);
  }

  onRoom(): void {
    for (const queue of [this.#waitingShort, this.#waitingLong]) {
      for (const one of queue) {
        // The abort removes it from the queue.
        if (one.exchange.isOver) continue;
        const connection = this.#withRoom(one.request.isLong);
        if (!connection) break;
        queue.delete(one);
        connection.begin(one.request, one.exchange);
      }
    }
    if (this.#waitingShort.size + this.#waitingLong.size > 0) this.#grow();
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    this.onRoom();
  }

  #withRoom(isLong: boolean): Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom(isLong)) return connection;
    return undefined;
  }

  #grow(): void {
    if (this.#isOpening || this.#closing.signal.aborted || !this.#mayGrow()) return;
    this.#isOpening = true;
    const forWhom = this.#waiting();
    const opened = (connection: Connection): void => {
      this.#isOpening = false;
      if (connection.hasRoom(true)) this.#connections.add(connection);
      else {
        // Another one would have no room either.
        connection.retire();
        this.#failWaiting(forWhom, new ClientError('ConnectionFailed', 'the server does not accept requests'));
      }
      this.onRoom();
    };
    const failed = (error: Error): void => {
      this.#isOpening = false;
      this.#failWaiting(forWhom, error);
      this.onRoom();
    };
    const { signal } = this.#closing;
    this.#options.dialer.open(signal, (dialed, until) => this.#connectionOn(dialed, until)).then(opened, failed);
  }

  #mayGrow(): boolean {
    let open = 0;
    for (const { isOver, isWhole } of this.#connections) {
      if (isOver) continue;
      if (isWhole) return false;
      open++;
    }
    return open < this.#options.http2ConnectionsMax;
  }

  #failWaiting(whom: readonly Waiting[], error: Error): void {
    for (const one of whom) {
      const isWaiting = (one.request.isLong ? this.#waitingLong : this.#waitingShort).delete(one);
      if (isWaiting) one.exchange.fail(error);
    }
  }

  #waiting(): Waiting[] {
    return [...this.#waitingShort, ...this.#waitingLong];
  }

  #connectionOn({ socket, protocol }: Dialed, signal: AbortSignal): Connection | Promise<Connection> {
    const { dialer, authority, clock, readIdleMs, pingTimeoutMs, idleMs, http1ConnectionsMax } = this.#options;
    const events: ConnectionEvents = {
      onRoom: () => this.onRoom(),
      onClosed: (connection) => this.onClosed(connection),
    };
    if (protocol === 'h2') {
      return openHttp2(socket, { authority, clock, readIdleMs, pingTimeoutMs, idleMs, ...events }, signal);
    }
    const dial = () => dialer.open(this.#closing.signal, (dialed) => dialed.socket, ['http/1.1']);
    const connection = new Http1Connection({ authority, dial, connectionsMax: http1ConnectionsMax, idleMs, ...events });
    connection.add(socket);
    return connection;
  }
}

/**
 * The connections to one server. The first one finds out what it speaks. Of HTTP/2 there are as many as are needed for what is
 * under way: one more when none has room, up to a bound; beyond it requests wait for their turn, in their order. One is made
 * at a time, and who waits for it when it fails takes the failure: trying again is up to those above.
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
  /** Of HTTP/2, each for as many requests as the server allows. */
  readonly http2ConnectionsMax: number;
  /** Of HTTP/1.1, besides those of watches. */
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
  /** Also those that begin nothing new, until they have ended. */
  readonly #connections = new Set<Connection>();
  /** Watches wait apart: what ends soon goes past them, into the room that is kept for it. */
  readonly #waitingLong = new Set<Waiting>();
  readonly #waitingShort = new Set<Waiting>();
  #isOpening = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Now, or when there is room for it. What becomes of it, the exchange is told. */
  send(request: Outbound, exchange: Exchange): void {
    if (exchange.isOver) return;
    if (this.#closing.signal.aborted) return exchange.fail(this.#closing.signal.reason as Error);
    const queue = request.isLong ? this.#waitingLong : this.#waitingShort;
    // Who waits longer goes first.
    const connection = queue.size === 0 ? this.#withRoom(request.isLong) : undefined;
    if (connection) return connection.begin(request, exchange);
    const waiting = { request, exchange };
    if (!exchange.begin({ cancel: () => queue.delete(waiting) })) return;
    queue.add(waiting);
    this.#grow();
  }

  /** New requests go to new connections, which are made with the credentials of now. */
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
        // Which takes it out of the queue.
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
        // Another one would have none either.
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

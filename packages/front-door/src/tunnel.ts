/** A client and a backend whose bytes are forwarded in both directions, with backpressure. Each direction is closed separately, as in TCP. */

import type { Socket } from 'node:net';
import type { Clock, Timer } from '@hangar/core';

export interface TunnelOptions {
  readonly client: Socket;
  readonly backend: Socket;
  /** How long the other direction stays open after one ended. */
  readonly halfOpenMs: number;
  readonly clock: Pick<Clock, 'after'>;
  /** Called once, when both sockets are closed. */
  readonly onClosed: () => void;
}

export class Tunnel {
  readonly #options: TunnelOptions;
  #halfOpen: Timer | undefined;
  #counted = { received: 0, sent: 0 };
  #isClosed = false;

  /** `first`: bytes for the backend before those of the client. */
  constructor(options: TunnelOptions, first: readonly Uint8Array[]) {
    this.#options = options;
    const { client, backend } = options;
    for (const [socket, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#closed(other));
      socket.once('end', () => this.#ended());
    }
    // One segment: a receiver of the PROXY protocol can require the whole header in the first one.
    backend.cork();
    for (const bytes of first) if (bytes.length > 0) backend.write(bytes);
    backend.uncork();
    client.pipe(backend);
    backend.pipe(client);
    // It can end while the backend is dialed.
    if (client.readableEnded) this.#ended();
  }

  /** Returns the bytes since the last call. */
  transferred(): { readonly received: number; readonly sent: number } {
    const { bytesRead: received, bytesWritten: sent } = this.#options.client;
    const before = this.#counted;
    this.#counted = { received, sent };
    return { received: received - before.received, sent: sent - before.sent };
  }

  destroy(): void {
    this.#options.client.destroy();
    this.#options.backend.destroy();
  }

  #ended(): void {
    const { clock, halfOpenMs } = this.#options;
    this.#halfOpen ??= clock.after(halfOpenMs, () => this.destroy());
  }

  #closed(other: Socket): void {
    this.#halfOpen?.cancel();
    if (!other.closed) return this.#finish(other);
    // Both can be closed before the first event.
    if (!this.#isClosed) this.#options.onClosed();
    this.#isClosed = true;
  }

  /** The other end gets the bytes that were read until now, unless it does not read them in time. */
  #finish(other: Socket): void {
    if (other.destroyed) return;
    if (other.writableLength === 0) {
      other.destroy();
      return;
    }
    const { clock, halfOpenMs } = this.#options;
    const timer = clock.after(halfOpenMs, () => other.destroy());
    other.once('close', () => timer.cancel());
    other.end(() => other.destroy());
    other.resume();
  }
}

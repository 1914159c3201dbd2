/** A channel to a server on which requests can be started: one connection for HTTP/2, a set of them for HTTP/1.1. */

import { ClientError } from '../errors.ts';
import type { ClientErrorCode } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import type { Headers } from './headers.ts';

/** A request to the server, with the path of the cluster and all credentials. */
export interface Outbound {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
  readonly upload: AsyncIterable<Uint8Array> | undefined;
  readonly isLong: boolean;
}

export interface Connection {
  /** Reports whether another request may start. */
  hasRoom(isLong: boolean): boolean;
  /** True if it accepts no new requests. */
  readonly isOver: boolean;
  /** True if it opens connections by itself: a second instance would add no capacity. */
  readonly isWhole: boolean;
  /** Starts a request. Call it only if `hasRoom`. */
  begin(request: Outbound, exchange: Exchange): void;
  /** Accepts no more requests, and closes when the running ones complete. */
  retire(): void;
  /** Closes at once and fails all requests. */
  destroy(error: Error): void;
}

export interface ConnectionEvents {
  /** Called when a request completed, so that there may be room. */
  onRoom(): void;
  /** Called once, last: all resources are released. */
  onClosed(connection: Connection): void;
}

/** An established connection failed a request before any part of its response. */
export class BrokenOff extends ClientError {
  /** True if the server certainly did not start to process it. Otherwise only reads may be resent. */
  readonly isUnsent: boolean;

  constructor(isUnsent: boolean, message: string, options?: ErrorOptions) {
    const code: ClientErrorCode = isUnsent ? 'ConnectionFailed' : 'ConnectionLost';
    super(code, message, options);
    this.isUnsent = isUnsent;
  }
}

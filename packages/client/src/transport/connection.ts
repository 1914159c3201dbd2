/** A way to a server on which requests can be begun; of HTTP/2 one connection, of HTTP/1.1 a set of them. */

import { ClientError } from '../errors.ts';
import type { ClientErrorCode } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import type { Headers } from './headers.ts';

/** A request as it goes to the server: with the cluster's path and everything that says who asks. */
export interface Outbound {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
  readonly isLong: boolean;
}

export interface Connection {
  /** Whether one more may begin. */
  hasRoom(isLong: boolean): boolean;
  /** It begins nothing new any more. */
  readonly isOver: boolean;
  /** It makes connections by itself: another one beside it would have no more room. */
  readonly isWhole: boolean;
  /** To be called when there is room. */
  begin(request: Outbound, exchange: Exchange): void;
  /** Takes no more, and ends with what is under way. */
  retire(): void;
  /** Ends everything now. */
  destroy(error: Error): void;
}

export interface ConnectionEvents {
  /** A request has ended, so that there may be room. */
  onRoom(): void;
  /** Once, last: nothing of it is left. */
  onClosed(connection: Connection): void;
}

/** A connection that had been made failed a request before any of its answer. */
export class BrokenOff extends ClientError {
  /** The server has not begun with it for sure. Else only those that read may be sent again. */
  readonly isUnsent: boolean;

  constructor(isUnsent: boolean, message: string, options?: ErrorOptions) {
    const code: ClientErrorCode = isUnsent ? 'ConnectionFailed' : 'ConnectionLost';
    super(code, message, options);
    this.isUnsent = isUnsent;
  }
}

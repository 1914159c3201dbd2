/**
 * Errors of the other side, by their scope (RFC 9113, 5.4): the whole connection, or one stream. Both are thrown while a frame is handled,
 * and handled there.
 */

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** One of `errorCode`. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly code: number;
  readonly streamId: number;

  constructor(streamId: number, code: number, message: string) {
    super(message);
    this.streamId = streamId;
    this.code = code;
  }
}

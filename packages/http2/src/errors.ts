/**
 * What the other end did wrong, by how much of its work it costs (RFC 9113, 5.4): everything on the connection, or the one
 * stream. Both are thrown while a frame is handled and end there.
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

/**
 * A request and its answer, whatever carried them: HTTP/1.1, HTTP/2, or a caller in the same process. The server is a
 * function from one to the other, so tests and in-process clients need no socket.
 */

/** Who sits at the other end; shared by the requests of one connection, so that what was found out once is kept. */
export interface Peer {
  /** Where it connects from, for the audit log. */
  readonly address: string;
  /** The client certificate that TLS verified against the configured CAs; undefined when none was given. */
  readonly certificate: ClientCertificate | undefined;
}

export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface ServerRequest {
  readonly method: string;
  /** Path and query as they came: `/api/v1/pods?limit=5`. */
  readonly target: string;
  readonly peer: Peer;
  /** By lower-case name; repeated headers joined with `, `. */
  header(name: string): string | undefined;
  /** The whole body. Rejects with 413 when it is longer, with 400 when the client goes away, 408-like when it is too slow. */
  body(bytesMax: number): Promise<Uint8Array>;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Bytes, pieces of them in order, or something that writes for as long as it likes. */
  readonly body: Uint8Array | readonly Uint8Array[] | Streaming;
}

export interface Streaming {
  /** Called once, after the head was sent. */
  start(sink: Sink): void;
}

/** Where a stream is written. */
export interface Sink {
  /** False when the other end does not keep up: wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  end(): void;
  /** Called whenever writing may go on; to be given once. */
  onDrain(callback: () => void): void;
  /** Called once when the other end is gone or `end` was called; at once when it is already. */
  onClose(callback: () => void): void;
}

export const isStreaming = (body: Answer['body']): body is Streaming => 'start' in body;

export type Handler = (request: ServerRequest) => Promise<Answer>;

/**
 * A request and its response, independent of the transport: HTTP/1.1, HTTP/2, or a caller in the same process. The server is a function
 * from one to the other, so tests and in-process clients need no socket.
 */

import type { Duplex, Readable } from 'node:stream';

/** The client of a connection. Shared by its requests, so that results of authentication can be cached. */
export interface Peer {
  /** Remote address, for the audit log. */
  readonly address: string;
  /** The client certificate that TLS verified against the configured CAs; undefined if there is none. */
  readonly certificate: ClientCertificate | undefined;
  /**
   * A client certificate that TLS could not verify: the client has its private key, but its issuer is unknown. Only code that has its CA
   * may use it. Never set together with `certificate`.
   */
  readonly unverified?: UnverifiedCertificate;
  /**
   * Server name that the client sent (SNI), in lower case. Absent if it sent none, and on a connection resumed with TLS 1.2, where it is
   * not sent again.
   */
  readonly serverName?: string;
  /** Path of the tenant whose port the connection uses. Absent: the port of the server, where the request selects the tenant. */
  readonly portOwner?: string;
}

/** A certificate that must be verified before use. */
export interface UnverifiedCertificate {
  /** DER of the certificate alone, without its chain. */
  der(): Uint8Array;
}

export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** UID of the subject, if present: 1.3.6.1.4.1.57683.2. */
  readonly uid?: string;
  /** SHA-256 of the certificate in hexadecimal. */
  digest?(): string;
  /** DER of the certificate, then of the chain that the client sent. Absent: the issuing CA cannot be determined. */
  chain?(): readonly Uint8Array[];
}

export interface ServerRequest {
  readonly method: string;
  /** Path and query as received: `/api/v1/pods?limit=5`. */
  readonly target: string;
  /** Target as the client sent it, if a prefix that selects the control plane was removed; absent: the same. */
  readonly originalTarget?: string;
  readonly peer: Peer;
  /** Returns a header by its lower-case name; repeated headers are joined with `, `. `host` includes `:authority` of HTTP/2. */
  header(name: string): string | undefined;
  /** Returns each value of a repeated header, for values that may contain commas; by lower-case name. */
  headerValues(name: string): readonly string[];
  /** In lower case. */
  headerNames(): readonly string[];
  /** Reads the whole body. Rejects with 413 if it is longer, with 400 if the client disconnects, with a timeout if it is too slow. */
  body(bytesMax: number): Promise<Uint8Array>;
  /** For proxies that stream the request; absent for callers in the same process. */
  readonly passing?: Passing | undefined;
}

/** Streaming access to a request. After taking the body, do not call `body()`. */
export interface Passing {
  readonly body: Readable;
  /** Calls back when the client disconnects; the returned function cancels it. Absent: cannot be detected. */
  onGone?(callback: () => void): () => void;
  /** The client requested another protocol. */
  readonly upgrade?: Upgrade;
}

/** An HTTP/1.1 connection that leaves HTTP. The handler that takes it returns `isTaken` and is its only writer. */
export interface Upgrade {
  readonly socket: Duplex;
  /** Bytes received after the head of the request. */
  readonly head: Buffer;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Bytes, pieces of bytes in order, or a stream. */
  readonly body: Uint8Array | readonly Uint8Array[] | Streaming;
  /** `Upgrade` took over the connection: no response is written. The body is started with a sink that only reports the end. */
  readonly isTaken?: boolean;
  /** A refusal to an unauthenticated client. */
  readonly isToStranger?: boolean;
}

export interface Streaming {
  /** Called once, after the head was sent, or with `nobody`. Resources of the response are released when the sink closes. */
  start(sink: Sink): void;
  /**
   * The body ends by itself, as a long list does: a closing server lets it finish or aborts it. Otherwise the body is endless, as a watch
   * is, and the server may close it at any time.
   */
  readonly isFinite?: boolean;
}

/** Destination of a stream. */
export interface Sink {
  /** Returns false if the client does not keep up: wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  /** `trailers`: header fields after the body, for gRPC. Only HTTP/2 sends them. */
  end(trailers?: Headers): void;
  /** Aborts, so that the client does not treat the sent part as complete. Absent: `end`. */
  abort?(): void;
  /** Returns the number of written bytes that the client has not read yet. Absent: unknown. */
  waitingBytes?(): number;
  /** Reports whether the system has all written bytes, so that their buffers may be used again. Absent: unknown. */
  isFlushed?(): boolean;
  /** Called whenever writing may resume; set it once. */
  onDrain(callback: () => void): void;
  /** Called once when the client disconnected or `end` was called; immediately if that already happened. */
  onClose(callback: () => void): void;
}

/** Sink that discards the body: for HEAD, or for a client that has disconnected. */
export const nobody: Sink = {
  write: () => true,
  end: () => {},
  onDrain: () => {},
  onClose: (callback) => callback(),
};

export const isStreaming = (body: Answer['body']): body is Streaming => 'start' in body;

/** Returns the same body, which calls `onClose` when its sink closes. */
export const closingWith = (body: Streaming, onClose: () => void): Streaming => ({
  ...body,
  start(sink) {
    sink.onClose(onClose);
    body.start(sink);
  },
});

/** Returns the same body, which also ends when `follow` calls its argument. `follow` returns a function that is called when the body ends. */
export const endingBy = (body: Streaming, follow: (end: () => void) => () => void): Streaming => ({
  ...body,
  start(sink) {
    sink.onClose(follow(() => sink.end()));
    body.start(sink);
  },
});

export type Handler = (request: ServerRequest) => Promise<Answer>;

/** Decides when a received request is handled. */
export interface Intake {
  /** Calls `handle` once: at once, or in a later turn of the event loop. Requests of one connection stay in order. */
  take(peer: Peer, handle: () => void): void;
}

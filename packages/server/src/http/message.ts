/**
 * A request and its answer, whatever carried them: HTTP/1.1, HTTP/2, or a caller in the same process. The server is a
 * function from one to the other, so tests and in-process clients need no socket.
 */

import type { Duplex, Readable } from 'node:stream';

/** Who sits at the other end; shared by the requests of one connection, so that what was found out once is kept. */
export interface Peer {
  /** Where it connects from, for the audit log. */
  readonly address: string;
  /** The client certificate that TLS verified against the configured CAs; undefined when none was given. */
  readonly certificate: ClientCertificate | undefined;
  /**
   * What the client showed and TLS could not verify: it has the key of it, and nobody has said that it is anybody's. Only who
   * knows its CA may look at it. Never there together with `certificate`.
   */
  readonly unverified?: UnverifiedCertificate;
  /**
   * Which server the client asked TLS for (SNI), in lower case. Absent when it did not say, and on a connection that TLS 1.2
   * resumed: the name is not said again then.
   */
  readonly serverName?: string;
}

/** A certificate that proves nothing before its reader has verified it. */
export interface UnverifiedCertificate {
  /** DER, without what was sent besides. */
  der(): Uint8Array;
}

export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Of the subject, where there is one: 1.3.6.1.4.1.57683.2. */
  readonly uid?: string;
  /** SHA-256 of the certificate in hexadecimal. */
  digest?(): string;
  /** DER: its own, then what the client sent with it. Absent: nobody can tell which CA it is of. */
  chain?(): readonly Uint8Array[];
}

export interface ServerRequest {
  readonly method: string;
  /** Path and query as they came: `/api/v1/pods?limit=5`. */
  readonly target: string;
  /** As the client sent it, where a part of it said whom it is for; absent: the same. */
  readonly originalTarget?: string;
  readonly peer: Peer;
  /** By lower-case name; repeated headers joined with `, `. `host` is also what HTTP/2 calls `:authority`. */
  header(name: string): string | undefined;
  /** Each of a repeated header's values, for values that may have commas of their own; by lower-case name. */
  headerValues(name: string): readonly string[];
  /** In lower case. */
  headerNames(): readonly string[];
  /** The whole body. Rejects with 413 when it is longer, with 400 when the client goes away, 408-like when it is too slow. */
  body(bytesMax: number): Promise<Uint8Array>;
  /** For those who hand the request on as it comes; absent for callers in the same process. */
  readonly passing?: Passing | undefined;
}

/** What of a request can be handed on as it comes. Who takes the body must not ask for `body()`. */
export interface Passing {
  readonly body: Readable;
  /** Calls back when the client goes away; to be taken back by what it returns. Absent: nobody can tell. */
  onGone?(callback: () => void): () => void;
  /** The client asked to go on in another protocol. */
  readonly upgrade?: Upgrade;
}

/** A connection of HTTP/1.1 that leaves HTTP. Who takes it answers `isTaken` and writes to it alone. */
export interface Upgrade {
  readonly socket: Duplex;
  /** What came behind the request's head. */
  readonly head: Buffer;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Bytes, pieces of them in order, or something that writes for as long as it likes. */
  readonly body: Uint8Array | readonly Uint8Array[] | Streaming;
  /** The connection was taken over by `Upgrade`: nothing of this is written. */
  readonly isTaken?: boolean;
  /** A refusal to somebody who is not known here. */
  readonly isToStranger?: boolean;
}

export interface Streaming {
  /** Called once, after the head was sent, or with `nobody`: whatever is open for the answer is closed by its sink. */
  start(sink: Sink): void;
  /**
   * The body has an end of its own, as a long list has: a server that closes lets it finish, or breaks it off. Else the body goes
   * on until it is ended, as a watch does, and may be ended at any time.
   */
  readonly isFinite?: boolean;
}

/** Where a stream is written. */
export interface Sink {
  /** False when the other end does not keep up: wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  end(): void;
  /** Breaks off, so that nobody takes what was sent for all there is. Absent: `end`. */
  abort?(): void;
  /** Returns how many of the written bytes the client has not taken yet. Absent: unknown. */
  waitingBytes?(): number;
  /** Called whenever writing may go on; to be given once. */
  onDrain(callback: () => void): void;
  /** Called once when the other end is gone or `end` was called; at once when it is already. */
  onClose(callback: () => void): void;
}

/** The sink of an answer whose body nobody will read: of HEAD, or of a client that has left. */
export const nobody: Sink = {
  write: () => true,
  end: () => {},
  onDrain: () => {},
  onClose: (callback) => callback(),
};

export const isStreaming = (body: Answer['body']): body is Streaming => 'start' in body;

/** Returns the same body, which calls `onClose` when its sink is closed. */
export const closingWith = (body: Streaming, onClose: () => void): Streaming => ({
  ...body,
  start(sink) {
    sink.onClose(onClose);
    body.start(sink);
  },
});

export type Handler = (request: ServerRequest) => Promise<Answer>;

/** Sends requests to a server over HTTP/1.1, HTTP/2 or a call in the same process. The layers above do not depend on the protocol. */

/** One HTTP request. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array | undefined;
  /**
   * A body of any length instead of `body`, sent as fast as the server reads it. It is read once: such a request is never sent again. If it
   * throws, the request is aborted and rejects with its error.
   */
  readonly upload?: AsyncIterable<Uint8Array> | undefined;
  /** Aborts the request, including a response body that is still being received. */
  readonly signal?: AbortSignal | undefined;
  /** True for requests that stay open, such as watches. They do not count against the connection limits of short requests. */
  readonly isLong?: boolean | undefined;
  /** Rejects with `TimedOut` when the server sends nothing for this time. Absent: no limit. */
  readonly silenceMs?: number | undefined;
  /** Rejects with `TimedOut` when the response is not completely received and read after this time. Absent: no limit. */
  readonly answerTimeoutMs?: number | undefined;
  /** Rejects with `MalformedAnswer` when the decompressed body is larger. Absent: 256 MiB. Error responses are limited to 1 MiB. */
  readonly answerBytesMax?: number | undefined;
}

/** One HTTP response. The caller must read the body; an unread response stays open until its signal or its timeout. */
export interface HttpAnswer {
  readonly status: number;
  /** Returns the header of this lower-case name. Several headers of one name are joined with a comma. */
  header(name: string): string | undefined;
  /** Returns the complete body within the limits of the request. Can be called once, and not together with `stream`. */
  body(): Promise<Buffer>;
  /** Streams the body with back-pressure. Leaving the loop aborts the request. */
  stream(): AsyncIterable<Uint8Array>;
}

/** Sends requests to one server. */
export interface HttpTransport {
  /** Host of the server, for metrics and messages. */
  readonly host?: string;
  /**
   * Sends a request. Rejects with a `ClientError`; its code is `ConnectionFailed` when no part of the request can have reached the
   * server.
   */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Aborts running requests and closes all connections. */
  close(): Promise<void>;
}

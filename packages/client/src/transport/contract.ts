/**
 * How a request gets to a server: over HTTP/1.1, HTTP/2, or by a call in the same process. Nothing above knows which.
 */

export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array | undefined;
  /** Ends the request, and the body that is still coming. */
  readonly signal?: AbortSignal | undefined;
  /** It stays open for long, such as a watch: it must not take the place of those that end soon. */
  readonly isLong?: boolean | undefined;
  /** `TimedOut` when the server is waited for and says nothing for this time. Absent: it may take as long as it likes. */
  readonly silenceMs?: number | undefined;
  /**
   * `TimedOut` when the answer is not whole, and read, after this time, also when its bytes trickle. Absent: it may take as long as it likes.
   */
  readonly answerTimeoutMs?: number | undefined;
  /**
   * `MalformedAnswer` when `body` would be longer, after it was decompressed. Absent: 256 MiB. What is no success may have 1 MiB at most.
   */
  readonly answerBytesMax?: number | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** By its name in lower case. Several of one name are joined with a comma. */
  header(name: string): string | undefined;
  /**
   * All of it, within the request's bounds. Once, and not together with `stream`. An answer of which neither is read stays open until its
   * signal or its time ends it.
   */
  body(): Promise<Buffer>;
  /** As it comes, and no faster than it is read. Leaving the loop ends the request. */
  stream(): AsyncIterable<Uint8Array>;
}

export interface HttpTransport {
  /** Whom it asks, for metrics and messages. */
  readonly host?: string;
  /** Rejects with a `ClientError`: `ConnectionFailed` when nothing of it can have reached the server. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

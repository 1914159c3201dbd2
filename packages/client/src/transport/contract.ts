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
}

export interface HttpAnswer {
  readonly status: number;
  /** By its name in lower case. */
  header(name: string): string | undefined;
  /** All of it. Once, and not together with `stream`. */
  body(): Promise<Buffer>;
  /** As it comes. Leaving the loop ends the request. */
  stream(): AsyncIterable<Uint8Array>;
}

export interface HttpTransport {
  /** Rejects with a `ClientError`: `ConnectionFailed` when nothing of it can have reached the server. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** A request as a tenant's own server sees it: everything as it came, but for the way to the tenant. */

import type { Passing, Peer, ServerRequest } from '../http/message.ts';

export class RoutedRequest implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: Peer;
  /** As the client sent it, for those who write it down. */
  readonly originalTarget: string;
  readonly #request: ServerRequest;

  /** `originalTarget`: where the request's own would not tell whom it was for. */
  constructor(request: ServerRequest, target: string, originalTarget = request.target) {
    this.#request = request;
    this.method = request.method;
    this.target = target;
    this.originalTarget = originalTarget;
    this.peer = request.peer;
  }

  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  headerValues(name: string): readonly string[] {
    return this.#request.headerValues(name);
  }

  headerNames(): readonly string[] {
    return this.#request.headerNames();
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return this.#request.body(bytesMax);
  }

  get passing(): Passing | undefined {
    return this.#request.passing;
  }
}

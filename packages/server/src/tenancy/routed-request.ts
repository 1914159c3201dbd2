/** A request as the tenant's own server sees it: unchanged except for the target, which has no route prefix. */

import type { Passing, Peer, ServerRequest } from '../http/message.ts';

export class RoutedRequest implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: Peer;
  /** Target as the client sent it, for logs and audit events. */
  readonly originalTarget: string;
  readonly #request: ServerRequest;

  /** `originalTarget`: set if the target of the request does not identify the tenant. */
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

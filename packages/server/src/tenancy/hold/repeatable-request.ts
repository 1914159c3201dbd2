/** A request whose body can be read again, unless a handler has taken it as a stream. */

import type { Passing, Peer, ServerRequest } from '../../http/message.ts';

export class RepeatableRequest implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly originalTarget?: string;
  readonly peer: Peer;
  readonly #request: ServerRequest;
  #passing: Passing | undefined;
  #body: { readonly bytes: Promise<Uint8Array>; readonly bytesMax: number } | undefined;
  #isTaken = false;

  constructor(request: ServerRequest) {
    this.#request = request;
    this.method = request.method;
    this.target = request.target;
    if (request.originalTarget !== undefined) this.originalTarget = request.originalTarget;
    this.peer = request.peer;
  }

  /** Reports whether the request can be handled again. */
  get isRepeatable(): boolean {
    return !this.#isTaken;
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
    // A handler with another limit reads the same kind of body: the first limit applies to both.
    this.#body ??= { bytes: this.#request.body(bytesMax), bytesMax };
    return this.#body.bytes;
  }

  get passing(): Passing | undefined {
    const { passing } = this.#request;
    if (!passing) return undefined;
    return (this.#passing ??= this.#marking(passing));
  }

  #marking(passing: Passing): Passing {
    const take = (): void => void (this.#isTaken = true);
    return {
      get body() {
        take();
        return passing.body;
      },
      ...(passing.onGone ? { onGone: (callback: () => void) => passing.onGone!(callback) } : {}),
      ...(passing.upgrade ? { upgrade: passing.upgrade } : {}),
    };
  }
}

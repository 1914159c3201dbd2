/** A scripted server: returns the responses of a test one after the other. */

import type { HttpAnswer, HttpRequest, HttpTransport } from '../../transport/contract.ts';

export interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or anything else as JSON. */
  readonly body?: unknown;
}

export class ScriptedTransport implements HttpTransport {
  readonly host = 'scripted';
  readonly requests: HttpRequest[] = [];
  readonly #script: (Said | Error | ((request: HttpRequest) => Said))[];

  /** The last one is repeated. */
  constructor(...script: (Said | Error | ((request: HttpRequest) => Said))[]) {
    this.#script = script;
  }

  request(request: HttpRequest): Promise<HttpAnswer> {
    this.requests.push(request);
    const next = this.#script.length > 1 ? this.#script.shift()! : this.#script[0]!;
    if (next instanceof Error) return Promise.reject(next);
    return Promise.resolve(answerOf(typeof next === 'function' ? next(request) : next));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function answerOf({ status = 200, headers = {}, body = {} }: Said): HttpAnswer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    status,
    header: (name) => headers[name],
    body: () => Promise.resolve(bytes),
    async *stream() {
      yield bytes;
    },
  };
}

/**
 * The server in the same process, asked without a socket. What it is given and answers is what `@hangar/server` calls a
 * Handler; the types are written here again in the part that is needed, so that a client does not depend on a server.
 */

import { abortError } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { HttpAnswer, HttpRequest, HttpTransport } from './contract.ts';

export interface InProcessPeer {
  readonly address: string;
  readonly certificate:
    | { readonly commonName: string; readonly organizations: readonly string[]; readonly expiresAt: number }
    | undefined;
}

export interface InProcessRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: InProcessPeer;
  header(name: string): string | undefined;
  headerValues(name: string): readonly string[];
  headerNames(): readonly string[];
  body(bytesMax: number): Promise<Uint8Array>;
}

export interface InProcessSink {
  write(chunk: Uint8Array): boolean;
  end(): void;
  abort(): void;
  onDrain(callback: () => void): void;
  onClose(callback: () => void): void;
}

export interface InProcessAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | readonly Uint8Array[] | { start(sink: InProcessSink): void };
}

export type InProcessHandler = (request: InProcessRequest) => Promise<InProcessAnswer>;

export interface InProcessOptions {
  readonly handler: InProcessHandler;
  /** Who asks, by certificate. Absent: nobody, unless the headers say who. */
  readonly peer?: InProcessPeer;
}

const anonymous: InProcessPeer = { address: '127.0.0.1', certificate: undefined };
const nothing = new Uint8Array();

export class InProcessTransport implements HttpTransport {
  readonly #handler: InProcessHandler;
  readonly #peer: InProcessPeer;
  readonly #open = new Set<StreamSink>();

  constructor({ handler, peer = anonymous }: InProcessOptions) {
    this.#handler = handler;
    this.#peer = peer;
  }

  async request({ method, target, headers = {}, body = nothing, signal }: HttpRequest): Promise<HttpAnswer> {
    if (signal?.aborted) throw abortError(signal);
    const answer = await this.#handler({
      method,
      target,
      peer: this.#peer,
      header: (name) => headers[name],
      headerValues: (name) => (headers[name] === undefined ? [] : [headers[name]]),
      headerNames: () => Object.keys(headers),
      body: () => Promise.resolve(body),
    });
    return this.#answer(answer, signal);
  }

  close(): Promise<void> {
    for (const sink of this.#open) sink.abort();
    return Promise.resolve();
  }

  #answer({ status, headers, body }: InProcessAnswer, signal: AbortSignal | undefined): HttpAnswer {
    let chunks: () => AsyncIterable<Uint8Array>;
    if (!('start' in body)) {
      const whole = body instanceof Uint8Array ? [body] : body;
      chunks = async function* () {
        yield* whole;
      };
    } else {
      const sink = new StreamSink(signal);
      this.#open.add(sink);
      sink.onClose(() => this.#open.delete(sink));
      body.start(sink);
      chunks = () => sink.read();
    }
    return {
      status,
      header: (name) => {
        const value = headers[name];
        return typeof value === 'string' || value === undefined ? value : value.join(', ');
      },
      stream: chunks,
      async body() {
        const all: Uint8Array[] = [];
        for await (const chunk of chunks()) all.push(chunk);
        return Buffer.concat(all);
      },
    };
  }
}

const waitingBytesMax = 1024 * 1024;

/** Between a server that writes and a client that reads: bounded by telling the server to wait. */
class StreamSink implements InProcessSink {
  readonly #signal: AbortSignal | undefined;
  readonly #chunks: Uint8Array[] = [];
  readonly #onAbort = (): void => this.abort();
  #waitingBytes = 0;
  #state: 'open' | 'ended' | 'broken' = 'open';
  #wake: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  #onClose: (() => void)[] = [];

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal?.aborted) this.#state = 'broken';
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  write(chunk: Uint8Array): boolean {
    if (this.#state !== 'open') return false;
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
    this.#wake?.();
    return this.#waitingBytes < waitingBytesMax;
  }

  end(): void {
    this.#close('ended');
  }

  abort(): void {
    this.#close('broken');
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  onClose(callback: () => void): void {
    if (this.#state !== 'open') callback();
    else this.#onClose.push(callback);
  }

  async *read(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          const wasFull = this.#waitingBytes >= waitingBytesMax;
          this.#waitingBytes -= chunk.length;
          if (wasFull && this.#waitingBytes < waitingBytesMax) this.#onDrain?.();
          yield chunk;
        } else if (this.#state === 'ended') return;
        else if (this.#state === 'broken') throw this.#broken();
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.abort();
    }
  }

  #broken(): Error {
    return this.#signal?.aborted ? abortError(this.#signal) : new ClientError('ConnectionLost', 'the server broke off');
  }

  #close(state: 'ended' | 'broken'): void {
    if (this.#state !== 'open') return;
    this.#state = state;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const callback of this.#onClose.splice(0)) callback();
    this.#wake?.();
  }
}

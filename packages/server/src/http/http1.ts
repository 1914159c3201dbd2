/** HTTP/1.1: one request and its answer. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@hangar/core';
import { readBody } from './body.ts';
import { compressed } from './compress.ts';
import { isStreaming } from './message.ts';
import type { Answer, Passing, Peer, ServerRequest, Sink, Upgrade } from './message.ts';

export class Http1Request implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: Peer;
  readonly #incoming: IncomingMessage;
  readonly #clock: Clock;
  readonly #upgrade: Upgrade | undefined;

  constructor(incoming: IncomingMessage, peer: Peer, clock: Clock, upgrade?: Upgrade) {
    this.method = incoming.method ?? 'GET';
    this.target = incoming.url ?? '/';
    this.peer = peer;
    this.#incoming = incoming;
    this.#clock = clock;
    this.#upgrade = upgrade;
  }

  get passing(): Passing {
    const { socket } = this.#incoming;
    const onGone = (callback: () => void): (() => void) => {
      socket.once('close', callback);
      return () => socket.off('close', callback);
    };
    return { body: this.#incoming, onGone, ...(this.#upgrade ? { upgrade: this.#upgrade } : {}) };
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerValues(name: string): readonly string[] {
    return this.#incoming.headersDistinct[name] ?? [];
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#incoming.headers);
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return readBody(this.#incoming, bytesMax, this.#clock);
  }
}

export function answerHttp1(response: ServerResponse, answer: Answer, request: ServerRequest): void {
  const isHead = request.method === 'HEAD';
  const { status, headers, body } = answer;
  if (isStreaming(body)) {
    response.writeHead(status, headers as Record<string, string>);
    if (isHead) response.end();
    else {
      response.flushHeaders();
      body.start(new Http1Sink(response));
    }
    return;
  }
  compressed(body, request.header('accept-encoding'), ({ bytes, length, encoding }) => {
    if (response.destroyed) return;
    const all = { ...headers, 'content-length': String(length) } as Record<string, string>;
    if (encoding) all['content-encoding'] = encoding;
    response.writeHead(status, all);
    if (isHead) {
      response.end();
      return;
    }
    const last = bytes.length - 1;
    for (let i = 0; i < last; i++) response.write(bytes[i]!);
    response.end(bytes[last]);
  });
}

class Http1Sink implements Sink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('error', () => response.destroy());
  }

  write(chunk: Uint8Array): boolean {
    return this.#response.destroyed || this.#response.writableEnded ? true : this.#response.write(chunk);
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }

  abort(): void {
    this.#response.destroy();
  }

  onDrain(callback: () => void): void {
    this.#response.on('drain', callback);
  }

  onClose(callback: () => void): void {
    if (this.#response.destroyed) callback();
    else this.#response.once('close', callback);
  }
}

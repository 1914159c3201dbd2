/** HTTP/2: one stream is one request and its answer. */

import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '@hangar/core';
import { readBody } from './body.ts';
import { compressed } from './compress.ts';
import { isStreaming } from './message.ts';
import type { Answer, Peer, ServerRequest, Sink } from './message.ts';

export class Http2Request implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: Peer;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #clock: Clock;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: Peer, clock: Clock) {
    this.method = headers[':method'] ?? 'GET';
    this.target = headers[':path'] ?? '/';
    this.peer = peer;
    this.#stream = stream;
    this.#headers = headers;
    this.#clock = clock;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  body(bytesMax: number): Promise<Uint8Array> {
    // Without a body the head ended the stream already.
    if (this.#stream.readableEnded || this.#stream.endAfterHeaders) return Promise.resolve(new Uint8Array());
    return readBody(this.#stream, bytesMax, this.#clock);
  }
}

export function answerHttp2(stream: ServerHttp2Stream, answer: Answer, request: ServerRequest): void {
  const isHead = request.method === 'HEAD';
  if (stream.destroyed || stream.closed) {
    if (isStreaming(answer.body)) answer.body.start(new Http2Sink(stream));
    return;
  }
  const { status, headers, body } = answer;
  const head: Record<string, string | number> = { ...(headers as Record<string, string>), ':status': status };
  if (isStreaming(body)) {
    stream.respond(head, { endStream: isHead });
    if (!isHead) body.start(new Http2Sink(stream));
    return;
  }
  compressed(body, request.header('accept-encoding'), ({ bytes, length, encoding }) => {
    if (stream.destroyed || stream.closed) return;
    head['content-length'] = length;
    if (encoding) head['content-encoding'] = encoding;
    stream.respond(head, { endStream: isHead || length === 0 });
    if (isHead || length === 0) return;
    const last = bytes.length - 1;
    for (let i = 0; i < last; i++) stream.write(bytes[i]!);
    stream.end(bytes[last]);
  });
}

class Http2Sink implements Sink {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  write(chunk: Uint8Array): boolean {
    return this.#stream.destroyed || this.#stream.writableEnded ? true : this.#stream.write(chunk);
  }

  end(): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.end();
  }

  onDrain(callback: () => void): void {
    this.#stream.on('drain', callback);
  }

  onClose(callback: () => void): void {
    if (this.#stream.destroyed || this.#stream.closed) callback();
    else this.#stream.once('close', callback);
  }
}

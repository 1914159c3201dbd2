/** HTTP/1.1: one request and its response. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { resumed } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { readBody } from './body.ts';
import { compressed } from './compress.ts';
import { isStreaming, nobody } from './message.ts';
import type { Answer, Passing, Peer, ServerRequest, Sink, Streaming, Upgrade } from './message.ts';
import { HeldAnswers, heldFrom, tooManyHeld } from './held-answers.ts';
import { awaitTaken, writtenBytesMax } from './taking.ts';

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
      if (socket.destroyed) callback();
      else socket.once('close', callback);
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
    return readBody(this.#incoming, bytesMax, this.#clock).then(resumed);
  }
}

/** RFC 9112, 3.2: such a request is refused, because its target host is ambiguous. */
export function namesSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

export function answerHttp1(response: ServerResponse, answer: Answer, request: ServerRequest, clock: Clock): void {
  const isHead = request.method === 'HEAD';
  const { status, headers, body } = answer;
  if (isStreaming(body)) return answerStreaming(response, answer, body, isHead ? undefined : clock);
  compressed(body, request.header('accept-encoding'), ({ bytes, length, encoding }) => {
    if (response.destroyed) return;
    if (length >= heldFrom && !isHead) {
      const release = heldOf(response).hold(length);
      if (!release) {
        // A write was done already: 429 would make the client send it again.
        if (request.method !== 'GET') return void response.destroy();
        const refusal = { ...tooManyHeld.headers, 'content-length': String(tooManyHeld.body.length) };
        response.writeHead(tooManyHeld.status, refusal as Record<string, string>).end(tooManyHeld.body);
        return;
      }
      response.once('close', release);
    }
    const all = { ...headers, 'content-length': String(length) } as Record<string, string>;
    if (encoding) all['content-encoding'] = encoding;
    response.writeHead(status, all);
    if (isHead) {
      response.end();
      return;
    }
    // Small enough to write without waiting for the client.
    if (length <= writtenBytesMax) response.end(bytes.length === 1 ? bytes[0] : Buffer.concat(bytes));
    else new WholeBody(response, bytes, length).send(clock);
  });
}

const heldBySocket = new WeakMap<object, HeldAnswers>();

function heldOf({ req }: ServerResponse): HeldAnswers {
  let held = heldBySocket.get(req.socket);
  if (!held) heldBySocket.set(req.socket, (held = new HeldAnswers()));
  return held;
}

/** `clock`: absent for HEAD. */
function answerStreaming(response: ServerResponse, { status, headers }: Answer, body: Streaming, clock?: Clock): void {
  try {
    response.writeHead(status, headers as Record<string, string>);
    if (clock) response.flushHeaders();
    else response.end();
  } catch (error) {
    body.start(nobody);
    throw error;
  }
  body.start(clock ? new Http1Sink(response, clock) : nobody);
}

/** Written only as fast as the client reads, in pieces small enough to detect progress. */
class WholeBody {
  readonly #response: ServerResponse;
  readonly #pieces: readonly Uint8Array[];
  #unwritten: number;
  /** Position of the rest: the index of a piece, and the offset in it. */
  #next = 0;
  #at = 0;

  constructor(response: ServerResponse, pieces: readonly Uint8Array[], length: number) {
    this.#response = response;
    this.#pieces = pieces;
    this.#unwritten = length;
  }

  send(clock: Clock): void {
    this.#write();
    if (this.#unwritten > 0) this.#response.on('drain', () => this.#write());
    awaitEnd(this.#response, clock, () => this.#unwritten);
  }

  #write(): void {
    const response = this.#response;
    if (response.writableEnded) return;
    while (this.#unwritten > 0) {
      const some = this.#some();
      if (this.#unwritten === 0) return void response.end(some);
      if (!response.write(some)) return;
    }
    response.end();
  }

  #some(): Uint8Array {
    const piece = this.#pieces[this.#next]!;
    const some = piece.length <= writtenBytesMax ? piece : piece.subarray(this.#at, this.#at + writtenBytesMax);
    this.#at += some.length;
    this.#unwritten -= some.length;
    if (this.#at >= piece.length) {
      this.#next++;
      this.#at = 0;
    }
    return some;
  }
}

/** Destroys the connection if the client does not read the written and the `unwritten` bytes in time. */
function awaitEnd(response: ServerResponse, clock: Clock, unwritten: () => number): void {
  if (response.destroyed) return;
  // The response waits for an earlier one on the same connection.
  if (!response.socket) return void response.once('socket', () => awaitEnd(response, clock, unwritten));
  const taken = awaitTaken(clock, {
    left: () => unwritten() + response.writableLength,
    drop: () => void response.destroy(),
  });
  response.once('finish', taken);
  response.once('close', taken);
}

class Http1Sink implements Sink {
  readonly #response: ServerResponse;
  readonly #clock: Clock;

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
    response.on('error', () => response.destroy());
  }

  write(chunk: Uint8Array): boolean {
    return this.#response.destroyed || this.#response.writableEnded ? true : this.#response.write(chunk);
  }

  end(): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    this.#response.end();
    awaitEnd(this.#response, this.#clock, () => 0);
  }

  abort(): void {
    this.#response.destroy();
  }

  waitingBytes(): number {
    return this.#response.writableLength;
  }

  isFlushed(): boolean {
    return this.#response.writableLength === 0;
  }

  onDrain(callback: () => void): void {
    this.#response.on('drain', callback);
  }

  onClose(callback: () => void): void {
    if (this.#response.destroyed) callback();
    else this.#response.once('close', callback);
  }
}

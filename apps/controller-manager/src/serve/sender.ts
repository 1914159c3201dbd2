/** Sends answers to clients that may be slow, gone or hostile. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { serviceUnavailable } from '@hangar/api/status';
import type { Clock } from '@hangar/core';
import { refusal } from './answer.ts';
import type { Answer, LongBody } from './answer.ts';

/** A client that takes longer to read its answer is disconnected. */
const sendTimeoutMs = 60_000;
/** Total of the answers in progress. */
const longBodiesMaxBytes = 256 * 1024 * 1024;
const gzipFromBytes = 1_400;

const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export class Sender {
  readonly #clock: Clock;
  readonly #longBytesMax: number;
  #longBytes = 0;

  constructor(clock: Clock, longBytesMax = longBodiesMaxBytes) {
    this.#clock = clock;
    this.#longBytesMax = longBytesMax;
  }

  /** Resolves when the answer is sent, or when the client has gone. Never rejects. */
  async send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    response.on('error', () => {});
    if (response.destroyed) return;
    const timer = this.#clock.after(sendTimeoutMs, () => response.destroy());
    try {
      // The body of the request is not read.
      if (hasBody(request)) response.shouldKeepAlive = false;
      const { body } = answer;
      if (typeof body === 'object') await this.#sendLong(request, response, answer, body);
      else await sendShort(response, answer, body);
    } finally {
      timer.cancel();
    }
  }

  async #sendLong(request: IncomingMessage, response: ServerResponse, answer: Answer, body: LongBody): Promise<void> {
    if (this.#longBytes > 0 && this.#longBytes + body.byteLength > this.#longBytesMax) {
      const busy = refusal(serviceUnavailable('too many responses are in progress'), { 'retry-after': '1' });
      return sendShort(response, busy, busy.body as string);
    }
    this.#longBytes += body.byteLength;
    try {
      const isZipped = body.byteLength >= gzipFromBytes && acceptsGzip(request.headers['accept-encoding']);
      const headers = { ...always, ...answer.headers, vary: 'accept-encoding' };
      response.writeHead(answer.status, isZipped ? { ...headers, 'content-encoding': 'gzip' } : headers);
      const chunks = Readable.from(body.chunks(), { objectMode: false });
      // Metrics are repetitive: the fastest level reduces them to a tenth.
      if (isZipped) await pipeline(chunks, createGzip({ level: constants.Z_BEST_SPEED }), response);
      else await pipeline(chunks, response);
    } catch {
      // The client is gone, or was disconnected.
      response.destroy();
    } finally {
      this.#longBytes -= body.byteLength;
    }
  }
}

async function sendShort(
  response: ServerResponse,
  { status, headers }: Answer,
  body: string | undefined,
): Promise<void> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...always, ...headers, ...length });
  const sent = new Promise<void>((resolve) => response.once('close', resolve));
  response.end(body);
  await sent;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;

/** RFC 9110: `gzip`, or anything, unless its weight is zero. */
export function acceptsGzip(header: string | undefined): boolean {
  const weights = new Map(
    (header ?? '').split(',').map((coding) => {
      const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

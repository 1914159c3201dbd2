/**
 * The endpoint for audit webhooks: `POST /ingest/audit` with a bearer token. The answer is 200 only after all events are durable. Waiting
 * bytes are bounded: beyond, senders get 429 and try again later.
 */

import { createHash } from 'node:crypto';
import { badRequest, StatusError } from '@hangar/api';
import { errorAnswer } from '@hangar/server/library';
import type { Answer, ServerRequest } from '@hangar/server/library';
import type { Backend } from '../backend/backend.ts';
import { BatchError } from './batch.ts';
import type { IngestSource } from './batch.ts';

export const ingestPath = '/ingest/audit';

/** A sender of audit events. */
export interface IngestCredential extends IngestSource {
  readonly token: string;
}

export interface IngestOptions {
  readonly backend: Pick<Backend, 'ingest'>;
  readonly credentials: readonly IngestCredential[];
  readonly onError: (error: Error) => void;
  readonly waitingBytesMax?: number;
}

const bodyBytesMax = 32 * 1024 * 1024;
const defaultWaitingBytesMax = 96 * 1024 * 1024;
const retryAfterSeconds = '1';

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

export class IngestEndpoint {
  readonly #options: IngestOptions;
  /** By digest, so that the time of a comparison does not depend on tokens. */
  readonly #sources: ReadonlyMap<string, IngestSource>;
  readonly #waitingBytesMax: number;
  #waitingBytes = 0;
  readonly #waitingOf = new Map<IngestSource, number>();

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#waitingBytesMax = options.waitingBytesMax ?? defaultWaitingBytesMax;
    this.#sources = new Map(options.credentials.map(({ token, plane }) => [digestOf(token), { plane }]));
  }

  /** Returns undefined for other paths. */
  route(request: ServerRequest): Promise<Answer> | undefined {
    if (request.target.split('?', 1)[0] !== ingestPath) return undefined;
    return this.#handle(request).catch((error: unknown) => this.#refusal(error, request));
  }

  async #handle(request: ServerRequest): Promise<Answer> {
    const source = this.#sourceOf(request);
    if (request.method !== 'POST') throw new StatusError('MethodNotAllowed', 'audit events are sent with POST');
    const bytes = sizeOf(request);
    const release = this.#reserve(source, bytes);
    try {
      const body = await request.body(bodyBytesMax);
      await this.#options.backend.ingest(body, source);
    } finally {
      release();
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') };
  }

  #sourceOf(request: ServerRequest): IngestSource {
    const token = /^Bearer (.+)$/i.exec(request.header('authorization') ?? '')?.[1];
    const source = token === undefined ? undefined : this.#sources.get(digestOf(token));
    if (!source) throw new StatusError('Unauthorized', 'Unauthorized');
    return source;
  }

  /** One sender uses at most half of the budget. */
  #reserve(source: IngestSource, bytes: number): () => void {
    const own = this.#waitingOf.get(source) ?? 0;
    const isFull = this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#waitingBytesMax;
    const isOwnFull = own > 0 && own + bytes > this.#waitingBytesMax / 2;
    if (isFull || isOwnFull) {
      throw new StatusError('TooManyRequests', 'too many audit events are waiting: try again later');
    }
    this.#waitingBytes += bytes;
    this.#waitingOf.set(source, own + bytes);
    return () => {
      this.#waitingBytes -= bytes;
      this.#waitingOf.set(source, (this.#waitingOf.get(source) ?? 0) - bytes);
    };
  }

  #refusal(error: unknown, request: ServerRequest): Answer {
    const status = this.#statusOf(error);
    const answer = errorAnswer(status, request.header('accept'), []);
    if (status.code !== 'TooManyRequests') return answer;
    return { ...answer, headers: { ...answer.headers, 'retry-after': retryAfterSeconds } };
  }

  #statusOf(error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    if (error instanceof BatchError) return badRequest(error.message);
    this.#options.onError(error as Error);
    return new StatusError('ServiceUnavailable', 'the events could not be stored: try again later');
  }
}

/** A body of unknown length may have the maximum. */
function sizeOf(request: ServerRequest): number {
  const length = request.header('content-length');
  if (length === undefined) return bodyBytesMax;
  if (!/^\d{1,15}$/.test(length)) throw badRequest('invalid Content-Length');
  if (Number(length) > bodyBytesMax) {
    throw new StatusError('RequestEntityTooLarge', `a batch must not be larger than ${bodyBytesMax} bytes`);
  }
  return Number(length);
}

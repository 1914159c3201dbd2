/** Test helpers that take, change and restore backups. */

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { isStreaming } from '../../http/message.ts';
import type { Answer, Sink } from '../../http/message.ts';
import { administrator } from '../../testing/authentication.ts';
import { serverRequest } from '../../testing/open-server.ts';
import { tenants } from '../../testing/tenancy-server.ts';
import type { TenancyServer } from '../../testing/tenancy-server.ts';
import type { Data } from '../../testing/test-server.ts';

/** Sink that collects a complete or aborted response. */
export class Collected implements Sink {
  readonly chunks: Buffer[] = [];
  readonly ended = Promise.withResolvers<'whole' | 'broken off'>();
  /** Awaited between two chunks. */
  readonly #pause: (() => Promise<void>) | undefined;
  #onDrain: (() => void) | undefined;
  readonly #onClose: (() => void)[] = [];

  constructor(pause?: () => Promise<void>) {
    this.#pause = pause;
  }

  write(chunk: Uint8Array): boolean {
    this.chunks.push(Buffer.from(chunk));
    if (!this.#pause) return true;
    void this.#pause().then(() => this.#onDrain?.());
    return false;
  }

  end(): void {
    this.ended.resolve('whole');
    for (const callback of this.#onClose.splice(0)) callback();
  }

  abort(): void {
    this.ended.resolve('broken off');
    for (const callback of this.#onClose.splice(0)) callback();
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  onClose(callback: () => void): void {
    this.#onClose.push(callback);
  }
}

export async function backupAnswer(server: TenancyServer, name: string, query = ''): Promise<Answer> {
  const answer = await server.answer('POST', `${tenants}/${name}/backup${query}`);
  assert.equal(answer.status, 200, isStreaming(answer.body) ? '' : textOf(answer.body));
  return answer;
}

export async function backup(server: TenancyServer, name: string, query = ''): Promise<Buffer> {
  const { body } = await backupAnswer(server, name, query);
  assert.ok(isStreaming(body));
  const sink = new Collected();
  body.start(sink);
  assert.equal(await sink.ended.promise, 'whole');
  return Buffer.concat(sink.chunks);
}

export interface RestoreAnswer {
  readonly status: number;
  readonly data: Data;
}

/** Sends the file in pieces, as a socket would. */
export async function restore(
  server: TenancyServer,
  target: string,
  file: Uint8Array | AsyncIterable<Uint8Array>,
  token: string = administrator.token,
): Promise<RestoreAnswer> {
  const headers = new Map([
    ['accept', ['application/json']],
    ['authorization', [`Bearer ${token}`]],
  ]);
  const body = Readable.from(file instanceof Uint8Array ? inPieces(file) : file, { objectMode: false });
  const request = serverRequest({ method: 'POST', target: `${tenants}/${target}`, headers, body: new Uint8Array() });
  const answer = await server.handler({ ...request, passing: { body } });
  assert.ok(!isStreaming(answer.body));
  return { status: answer.status, data: JSON.parse(textOf(answer.body)) };
}

const textOf = (body: Uint8Array | readonly Uint8Array[]): string =>
  Buffer.concat([body].flat() as Uint8Array[]).toString();

async function* inPieces(file: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < file.length; at += 10_000) yield file.subarray(at, at + 10_000);
}

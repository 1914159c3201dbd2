/** Decompresses responses. Kubernetes servers compress lists of more than 128 KiB. */

import { createGunzip, gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import { Readable } from 'node:stream';
import { hasCode } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { HttpAnswer } from './contract.ts';
import { answerTooLong } from './exchange.ts';

const gunzipAll = promisify(gunzip);

/** Returns the response itself if it is not compressed. Limits the decompressed size. */
export function decoded(answer: HttpAnswer & { readonly bodyBytesMax: number }): HttpAnswer {
  const encoding = answer.header('content-encoding');
  if (encoding === undefined || encoding === 'identity') return answer;
  if (encoding !== 'gzip')
    return broken(
      answer,
      new ClientError('MalformedAnswer', `the response has content encoding ${encoding}, which was not requested`),
    );
  return {
    status: answer.status,
    header: (name) => (name === 'content-encoding' ? undefined : answer.header(name)),
    async body() {
      const compressed = await answer.body();
      // A head without a body, as for HEAD and 304.
      if (compressed.length === 0) return compressed;
      const { bodyBytesMax } = answer;
      return gunzipAll(compressed, { maxOutputLength: bodyBytesMax }).catch((error: unknown) => {
        throw hasCode(error, 'ERR_BUFFER_TOO_LARGE') ? answerTooLong(bodyBytesMax) : malformed(error);
      });
    },
    stream: () => gunzipped(answer.stream()),
  };
}

const malformed = (cause: unknown): ClientError =>
  new ClientError('MalformedAnswer', 'the response has content encoding gzip, but is not valid gzip', { cause });

async function* gunzipped(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const source = Readable.from(compressed);
  const decoder = createGunzip();
  source.on('error', (error) => decoder.destroy(error));
  try {
    for await (const chunk of source.pipe(decoder)) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) throw malformed(error);
    throw error;
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

/** Its head can be read, but not its body. */
function broken(answer: HttpAnswer, error: Error): HttpAnswer {
  const refuse = async (): Promise<never> => {
    await answer.stream()[Symbol.asyncIterator]().return?.();
    throw error;
  };
  return {
    status: answer.status,
    header: (name) => answer.header(name),
    body: refuse,
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
  };
}

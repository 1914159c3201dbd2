/**
 * Uploads a stream of unknown length in parts. A part is sent from one buffer, so that it can be sent again without the source; a fixed number
 * of buffers bounds the memory. A stream that fits in one part is one PUT.
 *
 * An upload that fails is aborted, which removes its parts. It is not continued by a later process: the source of a backup is not repeatable,
 * because a later export has another revision and a container has a random data key, and parts of two sources must not be combined.
 */

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { asError } from '@hangar/core';
import { BackupError } from '../../errors.ts';
import type { UploadOptions } from '../object-storage.ts';
import type { S3Client } from './s3-client.ts';
import { S3Error } from './s3-errors.ts';
import { textOf, xmlText } from './xml.ts';

export interface MultipartOptions extends UploadOptions {
  readonly partBytes: number;
  readonly partsInFlightMax: number;
}

/** The limit of S3. */
const partsMax = 10_000;

interface Part {
  readonly number: number;
  readonly etag: string;
  readonly sha256: Buffer;
}

interface FilledPart {
  readonly body: Uint8Array;
  readonly sha256: Buffer;
}

/** Resolves when the object is stored. `checksum` is the one that a server with checksums reports for it. */
export async function uploadInParts(
  client: S3Client,
  key: string,
  content: AsyncIterable<Uint8Array>,
  options: MultipartOptions,
): Promise<{ readonly checksum: string }> {
  const buffers = new BufferPool(options.partBytes, options.partsInFlightMax + 1);
  const parts = filledParts(content, buffers)[Symbol.asyncIterator]();
  try {
    const first = await parts.next();
    const firstPart: FilledPart = first.done
      ? { body: Buffer.alloc(0), sha256: createHash('sha256').digest() }
      : first.value;
    if (firstPart.body.length < options.partBytes) return await putWhole(client, key, firstPart, options);
    return await new Upload(client, key, options).run(firstPart, parts, buffers);
  } finally {
    await parts.return?.();
  }
}

async function putWhole(
  client: S3Client,
  key: string,
  { body, sha256 }: FilledPart,
  { signal, onProgress }: UploadOptions,
): Promise<{ checksum: string }> {
  const checksum = sha256.toString('base64');
  const headers = { 'x-amz-checksum-sha256': checksum };
  await client.call({ method: 'PUT', key, body, bodySha256: sha256.toString('hex'), headers, signal });
  onProgress?.(body.length);
  return { checksum };
}

class Upload {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #options: MultipartOptions;
  readonly #parts: Part[] = [];
  readonly #running = new Set<Promise<void>>();
  #failure: Error | undefined;
  #isStopped = false;
  #started = 0;
  #sentBytes = 0;
  #uploadId = '';

  constructor(client: S3Client, key: string, options: MultipartOptions) {
    this.#client = client;
    this.#key = key;
    this.#options = options;
  }

  async run(first: FilledPart, rest: AsyncIterator<FilledPart>, buffers: BufferPool): Promise<{ checksum: string }> {
    this.#uploadId = await this.#create();
    try {
      for (let part: FilledPart | undefined = first; part; part = await this.#next(rest)) {
        this.#start(part, buffers);
        while (this.#running.size >= this.#options.partsInFlightMax) await Promise.race(this.#running);
        if (this.#failure) throw this.#failure;
      }
      await Promise.all(this.#running);
      if (this.#failure) throw this.#failure;
      return await this.#complete();
    } catch (error) {
      // Attempts in flight finish, because a server may keep a part that arrives after the upload was aborted; no new attempt starts.
      this.#isStopped = true;
      await Promise.all(this.#running);
      await this.#abort();
      throw error;
    }
  }

  async #next(rest: AsyncIterator<FilledPart>): Promise<FilledPart | undefined> {
    const next = await rest.next();
    return next.done ? undefined : next.value;
  }

  async #create(): Promise<string> {
    const { text } = await this.#client.call({
      method: 'POST',
      key: this.#key,
      query: { uploads: '' },
      headers: { 'x-amz-checksum-algorithm': 'SHA256' },
      signal: this.#options.signal,
    });
    const id = textOf(text, 'UploadId');
    if (id) return id;
    throw new BackupError('StorageFailed', `the server returned no upload id for ${this.#key}`);
  }

  #start(part: FilledPart, buffers: BufferPool): void {
    const number = ++this.#started;
    if (number > partsMax) {
      const limit = (partsMax * this.#options.partBytes) / 2 ** 30;
      throw new BackupError('TooLarge', `the backup is longer than ${Math.floor(limit)} GiB; set larger parts`);
    }
    const running = this.#send(number, part)
      .catch((error: unknown) => {
        this.#failure ??= asError(error);
      })
      .finally(() => {
        this.#running.delete(running);
        buffers.release(part.body);
      });
    this.#running.add(running);
  }

  async #send(number: number, { body, sha256 }: FilledPart): Promise<void> {
    const { headers } = await this.#client.call({
      method: 'PUT',
      key: this.#key,
      query: { partNumber: String(number), uploadId: this.#uploadId },
      headers: { 'x-amz-checksum-sha256': sha256.toString('base64') },
      body,
      bodySha256: sha256.toString('hex'),
      signal: this.#options.signal,
      mayRetry: () => !this.#isStopped && this.#failure === undefined,
    });
    this.#parts.push({ number, etag: headers.etag ?? '', sha256 });
    this.#sentBytes += body.length;
    this.#options.onProgress?.(this.#sentBytes);
  }

  async #complete(): Promise<{ checksum: string }> {
    const parts = this.#parts.sort((one, other) => one.number - other.number);
    const listed = parts.map(
      ({ number, etag, sha256 }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${xmlText(etag)}</ETag>` +
        `<ChecksumSHA256>${sha256.toString('base64')}</ChecksumSHA256></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`);
    const checksum = `${createHash('sha256')
      .update(Buffer.concat(parts.map(({ sha256 }) => sha256)))
      .digest('base64')}-${parts.length}`;
    try {
      const query = { uploadId: this.#uploadId };
      await this.#client.call({ method: 'POST', key: this.#key, query, body, signal: this.#options.signal });
    } catch (error) {
      // After a lost response the upload is complete and no longer exists. The caller compares the size.
      const isGone = error instanceof S3Error && error.s3Code === 'NoSuchUpload';
      if (!isGone || !(await this.#exists())) throw error;
    }
    return { checksum };
  }

  async #exists(): Promise<boolean> {
    return this.#client.call({ method: 'HEAD', key: this.#key, signal: this.#options.signal }).then(
      () => true,
      () => false,
    );
  }

  /**
   * Repeats until the server does not have the upload: a part that arrived late is kept otherwise. If it fails, the parts stay until
   * `removeIncomplete`, or until a rule of the bucket removes them.
   */
  async #abort(): Promise<void> {
    const upload = { key: this.#key, query: { uploadId: this.#uploadId } };
    for (let failures = 1; ; failures++) {
      try {
        await this.#client.call({ method: 'DELETE', ...upload });
        await this.#client.call({ method: 'GET', ...upload });
      } catch {
        return;
      }
      const left = new S3Error('Unavailable', 'parts are left', { isRetryable: true });
      if (
        await this.#client.backOff(left, failures, undefined).then(
          () => false,
          () => true,
        )
      )
        return;
    }
  }
}

/** A fixed number of buffers that are used again: new ones would be collected later than they are needed. */
class BufferPool {
  readonly #sizeBytes: number;
  readonly #free: Buffer[] = [];
  #left: number;

  constructor(sizeBytes: number, count: number) {
    this.#sizeBytes = sizeBytes;
    this.#left = count;
  }

  take(): Buffer {
    const free = this.#free.pop();
    if (free) return free;
    if (this.#left-- > 0) return Buffer.allocUnsafeSlow(this.#sizeBytes);
    throw new Error('no buffer is free');
  }

  release(body: Uint8Array): void {
    if (body.length === this.#sizeBytes) this.#free.push(body as Buffer);
  }
}

/** Collects a stream into parts; all but the last are full. The consumer releases the buffers. */
async function* filledParts(
  content: AsyncIterable<Uint8Array>,
  buffers: BufferPool,
): AsyncGenerator<FilledPart, void, void> {
  let buffer: Buffer | undefined;
  let filled = 0;
  let digest: Hash = createHash('sha256');
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length;) {
      buffer ??= buffers.take();
      const piece = chunk.subarray(at, at + buffer.length - filled);
      buffer.set(piece, filled);
      digest.update(piece);
      at += piece.length;
      filled += piece.length;
      if (filled < buffer.length) continue;
      yield { body: buffer, sha256: digest.digest() };
      [buffer, filled, digest] = [undefined, 0, createHash('sha256')];
    }
  }
  if (buffer) yield { body: buffer.subarray(0, filled), sha256: digest.digest() };
}

/** Objects in a bucket of an S3 server. */

import { abortError, hasCode, systemClock, systemRandom } from '@hangar/core';
import type { BackOff, Clock, Random } from '@hangar/core';
import { BackupError } from '../../errors.ts';
import type { CallOptions, ObjectStorage, StoredObject, UploadOptions } from '../object-storage.ts';
import { uploadInParts } from './multipart.ts';
import { S3Client } from './s3-client.ts';
import type { S3Request } from './s3-client.ts';
import { connectionError, S3Error } from './s3-errors.ts';
import type { S3Credentials } from './sign.ts';
import { elementsOf, textOf } from './xml.ts';

export interface S3StorageOptions {
  readonly bucket: string;
  /** Keys start with this and a slash. Absent or empty: the bucket is not divided. */
  readonly prefix?: string | undefined;
  /** `https://host` or `http://host:port`. Absent: AWS in this region. */
  readonly endpoint?: string | undefined;
  /** Default: `us-east-1`. */
  readonly region?: string | undefined;
  readonly credentials: S3Credentials | (() => Promise<S3Credentials> | S3Credentials);
  /** Default: `path` with an endpoint, `virtual` for AWS. */
  readonly addressing?: 'path' | 'virtual' | undefined;
  /** PEM of the authorities of the server. Absent: those of the system. */
  readonly ca?: string | undefined;
  /** Default: 8 MiB. The limit of an upload is 10,000 parts. */
  readonly partBytes?: number;
  /** Default: 2. Memory is bounded by one part more. */
  readonly partsInFlightMax?: number;
  /** A connection without data for this time is closed, and the request is repeated. Default: 30 s. */
  readonly idleTimeoutMs?: number;
  /** Attempts of each request. Default: 6. */
  readonly attemptsMax?: number;
  readonly backOff?: BackOff;
  readonly clock?: Clock;
  readonly random?: Random;
}

export const partBytesMin = 5 * 1024 * 1024;
const partBytesDefault = 8 * 1024 * 1024;
const requestsInFlightMax = 8;

/** Returns the storage of a bucket; `close` releases its connections. Throws `InvalidName`. No request is sent before the first call. */
export function s3Storage(options: S3StorageOptions): ObjectStorage & { close(): void } {
  return new S3Storage(options);
}

class S3Storage implements ObjectStorage {
  readonly description: string;
  readonly #client: S3Client;
  readonly #prefix: string;
  readonly #options: S3StorageOptions;

  constructor(options: S3StorageOptions) {
    this.#options = options;
    const { bucket, region = 'us-east-1', endpoint, credentials } = options;
    const prefix = (options.prefix ?? '').replaceAll(/^\/+|\/+$/g, '');
    checkAddress(bucket, prefix);
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.description = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.#client = new S3Client({
      endpoint: endpointOf(endpoint ?? `https://s3.${region}.amazonaws.com`),
      region,
      bucket,
      addressing: options.addressing ?? (endpoint === undefined && !bucket.includes('.') ? 'virtual' : 'path'),
      credentials: typeof credentials === 'function' ? credentials : () => credentials,
      ca: options.ca,
      idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
      attemptsMax: options.attemptsMax ?? 6,
      backOff: options.backOff ?? { baseMs: 250, maxMs: 10_000 },
      connectionsMax: requestsInFlightMax,
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
    });
  }

  async *list(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject, void, void> {
    let token: string | undefined;
    do {
      const query = {
        'list-type': '2',
        prefix: `${this.#prefix}${prefix}`,
        delimiter: '/',
        ...(token !== undefined && { 'continuation-token': token }),
      };
      const { text } = await this.#client.call({ method: 'GET', query, signal });
      for (const entry of elementsOf(text, 'Contents')) {
        const key = textOf(entry, 'Key') ?? '';
        if (!key.startsWith(this.#prefix)) continue;
        yield {
          key: key.slice(this.#prefix.length),
          sizeBytes: Number(textOf(entry, 'Size')),
          modifiedMs: Date.parse(textOf(entry, 'LastModified') ?? ''),
        };
      }
      const next = textOf(text, 'IsTruncated') === 'true' ? textOf(text, 'NextContinuationToken') : undefined;
      if (next !== undefined && next === token) throw new BackupError('StorageFailed', 'the server repeats a list');
      token = next;
    } while (token !== undefined);
  }

  async head(key: string, { signal }: CallOptions = {}): Promise<{ sizeBytes: number } | undefined> {
    try {
      const { headers } = await this.#client.call({ method: 'HEAD', key: this.#key(key), signal });
      return { sizeBytes: Number(headers['content-length']) };
    } catch (error) {
      // A HEAD without a body does not distinguish a missing object from a missing bucket.
      if (hasCode(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** Continues behind the last byte when the connection is lost; `If-Match` refuses an object that was replaced in the meantime. */
  async *read(key: string, { signal }: CallOptions = {}): AsyncGenerator<Uint8Array, void, void> {
    let [at, total, etag] = [0, Infinity, ''];
    for (let failures = 0; at < total;) {
      const headers: Record<string, string> = at > 0 ? { range: `bytes=${at}-`, 'if-match': etag } : {};
      const request: S3Request = { method: 'GET', key: this.#key(key), headers, signal };
      const response = await this.#client.open(request);
      try {
        if (at > 0 && response.statusCode !== 206) throw new BackupError('StorageFailed', 'the server ignores ranges');
        if (at === 0) [total, etag] = [Number(response.headers['content-length']), response.headers.etag ?? ''];
        for await (const piece of response as AsyncIterable<Buffer>) {
          at += piece.length;
          failures = 0;
          yield piece;
        }
        if (Number.isNaN(total)) return;
        if (at < total) throw connectionError({ action: `GET of ${key}`, place: this.description }, new Error('cut'));
      } catch (error) {
        const failure = error instanceof BackupError ? error : this.#client.streamError(request, error);
        await this.#client.backOff(failure, ++failures, signal);
      } finally {
        response.destroy();
      }
    }
  }

  async write(key: string, content: Uint8Array, { isNew, signal }: CallOptions & { isNew: boolean }): Promise<void> {
    const request = { method: 'PUT', key: this.#key(key), body: content, signal } as const;
    try {
      await this.#client.call({ ...request, headers: isNew ? { 'if-none-match': '*' } : {} });
    } catch (error) {
      // Servers without conditional writes. The caller has checked that the key does not exist.
      if (!isNew || !(error instanceof S3Error) || error.s3Code !== 'NotImplemented') throw error;
      await this.#client.call(request);
    }
  }

  async upload(
    key: string,
    content: AsyncIterable<Uint8Array>,
    options: UploadOptions = {},
  ): Promise<{ isVerified: boolean }> {
    const { partBytes = partBytesDefault, partsInFlightMax = 2 } = this.#options;
    const { signal } = options;
    const { checksum } = await uploadInParts(this.#client, this.#key(key), aborting(content, signal), {
      ...options,
      partBytes: Math.max(partBytes, partBytesMin),
      partsInFlightMax,
    });
    const headers = { 'x-amz-checksum-mode': 'ENABLED' };
    const stored = await this.#client.call({ method: 'HEAD', key: this.#key(key), headers, signal });
    return { isVerified: stored.headers['x-amz-checksum-sha256'] === checksum };
  }

  async remove(key: string, { signal }: CallOptions = {}): Promise<void> {
    try {
      await this.#client.call({ method: 'DELETE', key: this.#key(key), signal });
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
    }
  }

  async removeIncomplete(prefix: string, beforeMs: number, { signal }: CallOptions = {}): Promise<number> {
    let removed = 0;
    let markers: Record<string, string> | undefined = {};
    while (markers) {
      const query = { uploads: '', prefix: this.#key(prefix), ...markers };
      const { text } = await this.#client.call({ method: 'GET', query, signal });
      for (const upload of elementsOf(text, 'Upload')) {
        const [key, uploadId] = [textOf(upload, 'Key') ?? '', textOf(upload, 'UploadId') ?? ''];
        const isOld = Date.parse(textOf(upload, 'Initiated') ?? '') < beforeMs;
        if (!isOld || !key.startsWith(this.#key(prefix)) || uploadId === '') continue;
        await this.#abort(key, uploadId, signal);
        removed++;
      }
      const isMore = textOf(text, 'IsTruncated') === 'true';
      const [key, id] = [textOf(text, 'NextKeyMarker'), textOf(text, 'NextUploadIdMarker')];
      markers =
        isMore && key && key !== markers['key-marker']
          ? { 'key-marker': key, 'upload-id-marker': id ?? '' }
          : undefined;
    }
    return removed;
  }

  async #abort(key: string, uploadId: string, signal: AbortSignal | undefined): Promise<void> {
    await this.#client.call({ method: 'DELETE', key, query: { uploadId }, signal }).catch((error: unknown) => {
      if (!hasCode(error, 'NotFound')) throw error;
    });
  }

  close(): void {
    this.#client.close();
  }

  #key(key: string): string {
    return `${this.#prefix}${key}`;
  }
}

async function* aborting(
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of content) {
    if (signal?.aborted) throw abortError(signal);
    yield chunk;
  }
}

function endpointOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new BackupError('InvalidName', 'the endpoint of an S3 server must have the form https://HOST[:PORT]');
}

function checkAddress(bucket: string, prefix: string): void {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i.test(bucket)) {
    throw new BackupError('InvalidName', `${JSON.stringify(bucket)} is not a valid name of a bucket`);
  }
  const segments = prefix === '' ? [] : prefix.split('/');
  const isValid = segments.every((one) => /^[\w!.*'()-]+$/.test(one) && one !== '.' && one !== '..');
  if (isValid && prefix.length <= 500) return;
  throw new BackupError('InvalidName', `${JSON.stringify(prefix)} is not a valid prefix of keys in a bucket`);
}

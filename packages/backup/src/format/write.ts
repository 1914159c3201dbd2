/**
 * Writes a payload as a container. The layout:
 *
 *     "HANGAR-BACKUP-1\n"
 *     header    length u32 LE · JSON · SHA-256 of the JSON
 *     chunk …   frames with up to 1 MiB of the payload each
 *     trailer   the last frame: number of chunks u64, bytes of the payload u64, SHA-256 of the payload
 *
 * Without the trailer a backup is incomplete. Memory is bounded by a few chunks.
 */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { assert, systemRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { frameKinds, sealFrame } from './frame.ts';
import type { FrameSeal } from './frame.ts';
import { digestBytes, digestOf, encodeHeader, headerBytesMax, keyContext, magic } from './header.ts';
import type { BackupManifest, Compression, Header } from './header.ts';
import { keyBytes, wrapKey } from './key.ts';
import type { BackupKey } from './key.ts';

const compress = promisify(zstdCompress);

/** Bytes of the payload in one chunk, at most. */
export const chunkBytesMax = 1024 * 1024;
/** Distance between attempts to compress, in chunks, after a chunk that did not become smaller. */
const attemptInterval = 8;
export const trailerBytes = 16 + digestBytes;

export interface WriteOptions {
  readonly manifest: BackupManifest;
  /** Encrypts the payload. Absent: it is stored in plain text. */
  readonly key?: BackupKey | undefined;
  /** Default: zstd. */
  readonly compression?: Compression;
  /** Default: of the system. It creates the data key. */
  readonly random?: Random;
  /** Default: 1 MiB; smaller values are for tests. */
  readonly chunkBytes?: number;
}

/** Returns the container as a stream. An error of the payload is thrown, and the container then has no trailer. */
export async function* writeContainer(
  payload: AsyncIterable<Uint8Array>,
  { manifest, key, compression = 'zstd', random = systemRandom, chunkBytes = chunkBytesMax }: WriteOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const id = Buffer.from(random.bytes(16)).toString('hex');
  const dataKey = key && random.bytes(keyBytes);
  const encryption = key && { keyId: key.id, wrappedKey: wrapKey(key, dataKey!, keyContext(id), random) };
  const header: Header = { id, manifest, compression, ...(encryption && { encryption }) };
  const encoded = encodeHeader(header);
  assert(encoded.length <= headerBytesMax, 'the manifest of a backup is too long');
  const headerDigest = digestOf(encoded);
  yield Buffer.concat([magic, uint32(encoded.length), encoded, headerDigest]);

  const seal: FrameSeal = { dataKey, headerDigest };
  const digest = createHash('sha256');
  let [index, bytes, nextAttempt] = [0, 0, 0];
  for await (const chunk of inChunks(payload, chunkBytes)) {
    digest.update(chunk);
    bytes += chunk.length;
    const compressed = compression === 'zstd' && index >= nextAttempt ? await smaller(chunk) : undefined;
    // Encrypted values do not compress: most attempts in a stream of them are left out.
    if (!compressed && index >= nextAttempt) nextAttempt = index + attemptInterval;
    const kind = compressed ? frameKinds.compressed : frameKinds.stored;
    yield* sealFrame(seal, { index: index++, kind }, compressed ?? chunk);
  }
  yield* sealFrame(seal, { index, kind: frameKinds.trailer }, encodeTrailer(index, bytes, digest.digest()));
}

/** Returns the compressed chunk; undefined if it is not smaller. */
async function smaller(chunk: Buffer): Promise<Buffer | undefined> {
  const compressed = await compress(chunk);
  return compressed.length < chunk.length ? compressed : undefined;
}

export function encodeTrailer(chunks: number, bytes: number, digest: Uint8Array): Buffer {
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeBigUInt64LE(BigInt(chunks), 0);
  trailer.writeBigUInt64LE(BigInt(bytes), 8);
  trailer.set(digest, 16);
  return trailer;
}

/** Collects pieces of any size into chunks of exactly this size; the last one is shorter. A chunk is valid until the next one is read. */
async function* inChunks(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer, void, void> {
  const chunk = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + size - filled);
      chunk.set(part, filled);
      at += part.length;
      filled += part.length;
      if (filled < size) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

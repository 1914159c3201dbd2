/** Reads a container. See `write.ts` for its layout. */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { ChunkReader } from '@hangar/core';
import { BackupError } from '../errors.ts';
import { frameHeadBytes, frameKinds, openFrame, tagBytes } from './frame.ts';
import type { FrameKind, FrameSeal } from './frame.ts';
import {
  decodeHeader,
  digestBytes,
  digestOf,
  headerBytesMax,
  keyContext,
  magic,
  magicStart,
  unsupported,
} from './header.ts';
import type { BackupManifest, Header } from './header.ts';
import { unwrapKey } from './key.ts';
import type { BackupKey } from './key.ts';
import { chunkBytesMax, encodeTrailer, trailerBytes } from './write.ts';

const decompress = promisify(zstdDecompress);

export interface ReadOptions {
  /** Required exactly when the backup is encrypted: a reader with a key does not accept a backup that another party could have made. */
  readonly key?: BackupKey | undefined;
}

export interface OpenContainer {
  /** With encryption it is authenticated only when the first chunk was read. */
  readonly manifest: BackupManifest;
  readonly isEncrypted: boolean;
  /** Each chunk is verified before it is returned. Throws `Truncated` or `Corrupted`; the payload is complete when the stream finishes. */
  readonly payload: AsyncGenerator<Uint8Array, void, void>;
}

/** Reports whether a stream that starts with these bytes is a container, of any version. */
export const isContainer = (start: Uint8Array): boolean =>
  Buffer.from(start.buffer, start.byteOffset, start.length)
    .subarray(0, magicStart.length)
    .equals(Buffer.from(magicStart));

/**
 * Reads the header. Throws `NotABackup`, `UnsupportedVersion`, `Truncated`, `Corrupted`, `KeyRequired`, `WrongKey` or `NotEncrypted`, and
 * then stops reading.
 */
export async function readContainer(
  chunks: AsyncIterable<Uint8Array>,
  { key }: ReadOptions = {},
): Promise<OpenContainer> {
  const reader = new ChunkReader(chunks);
  try {
    const { header, headerDigest } = await readHeader(reader);
    const seal: FrameSeal = { dataKey: dataKeyOf(header, key), headerDigest };
    return {
      manifest: header.manifest,
      isEncrypted: header.encryption !== undefined,
      payload: reader.closedBy(readPayload(reader, seal)),
    };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function readHeader(reader: ChunkReader): Promise<{ header: Header; headerDigest: Buffer }> {
  await checkMagic(reader);
  const length = (await taken(reader, 4)).readUInt32LE();
  if (length > headerBytesMax) throw corrupted(`its header claims ${length} bytes`);
  const encoded = await taken(reader, length);
  const headerDigest = await taken(reader, digestBytes);
  if (!digestOf(encoded).equals(headerDigest)) throw corrupted('the checksum of its header is wrong');
  return { header: decodeHeader(encoded), headerDigest };
}

async function checkMagic(reader: ChunkReader): Promise<void> {
  const found = await reader.take(magic.length);
  if (found?.equals(magic)) return;
  if (found && isContainer(found)) throw unsupported(`format ${JSON.stringify(found.toString('latin1'))}`);
  throw new BackupError('NotABackup', 'this is not a backup: it does not start with the signature of one');
}

function dataKeyOf({ id, encryption }: Header, key: BackupKey | undefined): Buffer | undefined {
  if (!encryption) {
    if (!key) return undefined;
    throw new BackupError('NotEncrypted', 'the backup is not encrypted, but a key is given; to read it, omit the key');
  }
  const { keyId, wrappedKey } = encryption;
  if (!key) throw new BackupError('KeyRequired', `the backup is encrypted with key ${keyId}, and no key is given`);
  if (key.id !== keyId) {
    throw new BackupError('WrongKey', `the backup is encrypted with key ${keyId}, and the given key is ${key.id}`);
  }
  return unwrapKey(key, wrappedKey, keyContext(id));
}

async function* readPayload(reader: ChunkReader, seal: FrameSeal): AsyncGenerator<Uint8Array, void, void> {
  const digest = createHash('sha256');
  const frame = Buffer.allocUnsafe(chunkBytesMax + tagBytes);
  let bytes = 0;
  try {
    for (let index = 0; ; index++) {
      const { kind, body } = await readFrame(reader, { seal, index, frame });
      if (kind === frameKinds.trailer) {
        if (!body.equals(encodeTrailer(index, bytes, digest.digest()))) throw corrupted('its trailer is wrong');
        if (!(await reader.isEmpty())) throw corrupted('data follows its trailer');
        return;
      }
      const chunk = kind === frameKinds.compressed ? await decompressed(body, index) : body;
      digest.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  } finally {
    await reader.close();
  }
}

/** `frame` holds the bytes of one frame, and is used again. */
async function readFrame(
  reader: ChunkReader,
  { seal, index, frame }: { readonly seal: FrameSeal; readonly index: number; readonly frame: Buffer },
): Promise<{ kind: FrameKind; body: Buffer }> {
  const head = await taken(reader, frameHeadBytes);
  const [kind, length] = [head[0] as FrameKind, head.readUInt32LE(1)];
  const lengthMax = kind === frameKinds.trailer ? trailerBytes : chunkBytesMax;
  const isKnown = Object.values(frameKinds).includes(kind);
  if (!isKnown || length > lengthMax) throw corrupted(`chunk ${index} has no valid start`);
  const sealed = frame.subarray(0, length + tagBytes);
  if (!(await reader.fill(sealed))) throw truncated();
  const body = openFrame(seal, { index, kind }, sealed.subarray(0, length), sealed.subarray(length));
  if (!body) throw corrupted(`the checksum of chunk ${index} is wrong`);
  return { kind, body };
}

async function decompressed(body: Buffer, index: number): Promise<Buffer> {
  try {
    return await decompress(body, { maxOutputLength: chunkBytesMax });
  } catch (error) {
    throw corrupted(`chunk ${index} cannot be decompressed`, { cause: error });
  }
}

async function taken(reader: ChunkReader, length: number): Promise<Buffer> {
  const bytes = await reader.take(length);
  if (!bytes) throw truncated();
  return bytes;
}

const truncated = (): BackupError =>
  new BackupError('Truncated', 'the backup is truncated: it stops before its trailer');

const corrupted = (problem: string, options?: ErrorOptions): BackupError =>
  new BackupError('Corrupted', `the backup is corrupted: ${problem}`, options);

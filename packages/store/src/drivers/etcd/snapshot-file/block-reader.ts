/** Reads a file in blocks, so that neighbouring pages cost one request. */

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { RandomAccess } from './bolt-file.ts';
import { damaged } from './bolt-page.ts';

const blockBytes = 256 * 1_024;
const blocksMax = 32;
const digestChunkBytes = 2 ** 20;

/** `sizeBytes`: the part of the file that can be read. */
export function blockReader(file: Pick<FileHandle, 'read'>, sizeBytes: number): RandomAccess {
  /** In the order of their use, oldest first. */
  const blocks = new Map<number, Buffer>();
  const block = async (index: number): Promise<Buffer> => {
    const known = blocks.get(index);
    const bytes =
      known ?? (await readExactly(file, index * blockBytes, Math.min(blockBytes, sizeBytes - index * blockBytes)));
    blocks.delete(index);
    blocks.set(index, bytes);
    if (blocks.size > blocksMax) blocks.delete(blocks.keys().next().value!);
    return bytes;
  };
  return {
    sizeBytes,
    async read(position, length) {
      const index = Math.floor(position / blockBytes);
      const start = position - index * blockBytes;
      if (start + length > blockBytes) return readExactly(file, position, length);
      return (await block(index)).subarray(start, start + length);
    },
  };
}

/** Reads a number of bytes, or fills a buffer. Throws `StorageDamaged` if the file is shorter. */
export async function readExactly(
  file: Pick<FileHandle, 'read'>,
  position: number,
  target: number | Buffer,
): Promise<Buffer> {
  const buffer = typeof target === 'number' ? Buffer.allocUnsafe(target) : target;
  const { length } = buffer;
  for (let filled = 0; filled < length;) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) throw damaged('the file became shorter while it was read');
    filled += bytesRead;
  }
  return buffer;
}

/** The SHA-256 of the first `length` bytes. Throws `StorageDamaged` if the file is shorter. */
export async function digestOf(
  file: Pick<FileHandle, 'read'>,
  length: number,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(digestChunkBytes);
  for (let at = 0; at < length; at += digestChunkBytes) {
    signal?.throwIfAborted();
    hash.update(await readExactly(file, at, chunk.subarray(0, Math.min(digestChunkBytes, length - at))));
  }
  return hash.digest();
}

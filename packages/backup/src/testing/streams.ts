/** Streams, keys and manifests for tests. */

import { backupKey } from '../format/index.ts';
import type { BackupManifest } from '../format/index.ts';

export const manifest: BackupManifest = {
  payload: 'range-export',
  controlPlane: { name: 'demo', mode: 'Virtual' },
  versions: { hangar: '0.1.0' },
  createdAt: '2026-01-02T03:04:05.000Z',
};

export const testKey = backupKey(Buffer.alloc(32, 7));

export async function* inPieces(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Returns the whole stream; chunks may be valid only until the next one is read. */
export async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunks) pieces.push(Buffer.from(chunk));
  return Buffer.concat(pieces);
}

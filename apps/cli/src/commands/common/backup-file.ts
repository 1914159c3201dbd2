/** A backup in a file, read piece by piece. */

import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { asError } from '@hangar/core';
import { failed } from '../../errors.ts';
import type { Session } from '../../session.ts';
import { quoted } from '../../terminal/plain-text.ts';

export interface FileChunks extends AsyncDisposable {
  /** Size of the file; 0 for a pipe. */
  readonly sizeBytes: number;
  /** The first bytes. */
  readonly start: Uint8Array;
  /** The whole file, once. */
  read(): AsyncGenerator<Uint8Array, void, void>;
}

const pieceBytes = 256 * 1024;

/** `shown`: the name as given, relative to the folder of the session. */
export async function fileChunks(session: Session, shown: string): Promise<FileChunks> {
  const unreadable = (error: unknown): Error =>
    failed(`${quoted(shown)} cannot be read: ${asError(error).message}`, { cause: error });
  const file = await open(resolve(session.folder, shown), 'r').catch((error: unknown) => {
    throw unreadable(error);
  });
  const piece = async (): Promise<Uint8Array> => {
    const buffer = Buffer.allocUnsafe(pieceBytes);
    const { bytesRead } = await file.read(buffer, 0, pieceBytes).catch((error: unknown) => {
      throw unreadable(error);
    });
    return buffer.subarray(0, bytesRead);
  };
  try {
    const { size: sizeBytes } = await file.stat();
    const start = await piece();
    return {
      sizeBytes,
      start,
      async *read() {
        for (let next = start; next.length > 0; next = await piece()) yield next;
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Compresses large responses for clients that accept it, off the main thread. */

import { constants, gzip } from 'node:zlib';

/** As in kube-apiserver: below this size, compressing costs more than it saves. */
const compressFromBytes = 128 * 1024;

export interface Encoded {
  readonly bytes: readonly Uint8Array[];
  readonly length: number;
  readonly encoding: 'gzip' | undefined;
}

/** As in kube-apiserver: only the bare name matches. A weight might be zero. */
const isWanted = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined && acceptEncoding.split(',').some((coding) => coding.trim() === 'gzip');

/** Calls back immediately if nothing is compressed. */
export function compressed(
  body: Uint8Array | readonly Uint8Array[],
  acceptEncoding: string | undefined,
  done: (encoded: Encoded) => void,
): void {
  const bytes = Array.isArray(body) ? (body as readonly Uint8Array[]) : [body as Uint8Array];
  let length = 0;
  for (const piece of bytes) length += piece.length;
  if (length < compressFromBytes || !isWanted(acceptEncoding)) {
    done({ bytes, length, encoding: undefined });
    return;
  }
  gzip(
    bytes.length === 1 ? bytes[0]! : Buffer.concat(bytes, length),
    { level: constants.Z_BEST_SPEED },
    (error, zipped) =>
      done(
        error ? { bytes, length, encoding: undefined } : { bytes: [zipped], length: zipped.length, encoding: 'gzip' },
      ),
  );
}

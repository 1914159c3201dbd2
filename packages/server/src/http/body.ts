/** Reads the whole body of a request, up to a limit. */

import { badRequest, StatusError, tooLarge } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { Readable } from 'node:stream';
import { Pieces } from './pieces.ts';

/** Timeout for a body of any size; the largest is 3 MiB. */
const bodyTimeoutMs = 60_000;

export function readBody(stream: Readable, bytesMax: number, clock: Clock): Promise<Uint8Array> {
  // A destroyed stream emits no more events.
  if (stream.destroyed)
    return Promise.reject(badRequest('the client closed the connection before the request body was complete'));
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    const timer = clock.after(bodyTimeoutMs, () => {
      finish(() => reject(new StatusError('Timeout', 'Timeout: the request body was not received in time')));
    });
    const finish = (settle: () => void): void => {
      timer.cancel();
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.off('error', onGone);
      stream.off('aborted', onGone);
      stream.off('close', onGone);
      // Drop the rest: a paused stream would block the next request of the connection.
      stream.resume();
      settle();
    };
    const onData = (piece: Buffer): void => {
      if (pieces.length + piece.length <= bytesMax) pieces.add(piece);
      else {
        pieces.clear();
        finish(() => reject(tooLarge(`limit is ${bytesMax}`)));
      }
    };
    const onEnd = (): void => finish(() => resolve(pieces.takeWhole()));
    const onGone = (): void =>
      finish(() => reject(badRequest('the client closed the connection before the request body was complete')));
    stream.on('data', onData);
    stream.on('end', onEnd);
    stream.on('error', onGone);
    stream.on('aborted', onGone);
    stream.on('close', onGone);
  });
}

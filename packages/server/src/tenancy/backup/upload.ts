/** The body of a request as it comes, never more of it in memory than was read ahead. */

import { badRequest, StatusError } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { ServerRequest } from '../../http/message.ts';

/** Between two pieces of it, at most. */
const pieceTimeoutMs = 60_000;
/** For callers in the same process, who have all of it in memory anyway. */
const wholeBytesMax = 256 * 1024 * 1024;

/** Throws 400 when the client goes away, 504 when nothing comes any more. What is not read is dropped. */
export async function* upload(request: ServerRequest, clock: Clock): AsyncGenerator<Uint8Array, void, void> {
  const { passing } = request;
  if (!passing) {
    yield await request.body(wholeBytesMax);
    return;
  }
  const { body } = passing;
  // Destroying the stream would take the connection with it, and the answer.
  const pieces = body.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const { done, value } = await soon(pieces.next(), clock);
      if (done) return;
      yield value;
    }
  } finally {
    body.on('error', () => {});
    // As long as it is iterated it does not flow.
    void pieces.return?.().then(
      () => body.resume(),
      () => {},
    );
  }
}

function soon<T>(piece: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(pieceTimeoutMs, () =>
      reject(new StatusError('Timeout', 'Timeout: the request body was not received in time')),
    );
    piece.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(
          error instanceof StatusError
            ? error
            : badRequest('the client closed the connection before the request body was complete', error),
        );
      },
    );
  });
}

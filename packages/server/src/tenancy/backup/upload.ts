/** Reads a request body as a stream; only the read-ahead is in memory. */

import { badRequest, StatusError } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { ServerRequest } from '../../http/message.ts';

/** Maximum time between two pieces. */
const pieceTimeoutMs = 60_000;
/** For callers in the same process, which have the whole body in memory anyway. */
const wholeBytesMax = 256 * 1024 * 1024;

/** Throws 400 if the client disconnects, and 504 if it stops sending. Unread data is discarded. */
export async function* upload(request: ServerRequest, clock: Clock): AsyncGenerator<Uint8Array, void, void> {
  const { passing } = request;
  if (!passing) {
    yield await request.body(wholeBytesMax);
    return;
  }
  const { body } = passing;
  // Destroying the stream would also close the connection, before the response is sent.
  const pieces = body.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const { done, value } = await soon(pieces.next(), clock);
      if (done) return;
      yield value;
    }
  } finally {
    body.on('error', () => {});
    // The stream does not flow while it is iterated.
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

/** Reads the body of a request within limits for one and for all requests, so that clients cannot exhaust the memory. */

import type { IncomingMessage } from 'node:http';

/** Limits the bytes of all requests in memory. */
export class BodyBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns false if the budget is exhausted. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

export type ReadBody =
  | { readonly outcome: 'whole'; readonly body: Buffer }
  /** The rest is not read: the connection cannot be reused. */
  | { readonly outcome: 'too large' }
  | { readonly outcome: 'no room' }
  | { readonly outcome: 'gone' };

/** The caller must release the budget of a complete body: `body.length` bytes. Never rejects. */
export function readBody(request: IncomingMessage, maxBytes: number, budget: BodyBudget): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (read: ReadBody): void => {
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      request.on('error', () => {});
      if (read.outcome !== 'whole') {
        budget.give(bytes);
        request.pause();
      }
      resolve(read);
    };
    const onData = (chunk: Buffer): void => {
      if (bytes + chunk.length > maxBytes) return end({ outcome: 'too large' });
      if (!budget.take(chunk.length)) return end({ outcome: 'no room' });
      bytes += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = (): void => end({ outcome: 'whole', body: Buffer.concat(chunks) });
    const onGone = (): void => end({ outcome: 'gone' });
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/**
 * HTTP/1.1 lets a client send requests before earlier ones are answered, and Node's parser hands over all that one read
 * brought: thousands, if they are small. Not reading any further does not help: the parser itself goes on reading after each
 * request. So there is a bound, the same as for streams of HTTP/2; whoever sends more has no connection any more. An answer
 * is out of the question: it would be taken for that to an earlier request.
 */

import type { Socket } from 'node:net';

export const unansweredMax = 250;

export class Pipelines {
  readonly #unanswered = new WeakMap<Socket, number>();

  /** False: it is not to be looked at, its connection is gone. */
  begun(socket: Socket): boolean {
    // What came with the same read still comes.
    if (socket.destroyed) return false;
    const unanswered = (this.#unanswered.get(socket) ?? 0) + 1;
    this.#unanswered.set(socket, unanswered);
    if (unanswered <= unansweredMax) return true;
    socket.destroy();
    return false;
  }

  ended(socket: Socket): void {
    this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1);
  }
}

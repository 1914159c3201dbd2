/**
 * Limits pipelining. In HTTP/1.1 a client may send requests before earlier ones are answered, and Node's parser emits all that one read
 * returned: thousands, if they are small. Pausing the socket does not help, because the parser resumes reading after each request. So the
 * number of unanswered requests is limited, as for HTTP/2 streams; a client that exceeds it is disconnected. An error response is not
 * possible: it would be read as the response to an earlier request.
 */

import type { Socket } from 'node:net';

export const unansweredMax = 250;

export class Pipelines {
  readonly #unanswered = new WeakMap<Socket, number>();

  /** Returns false if the request must be ignored because its connection is closed. */
  begun(socket: Socket): boolean {
    // Requests of the same read are still emitted.
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

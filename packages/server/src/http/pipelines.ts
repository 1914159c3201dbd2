/**
 * HTTP/1.1 lets a client send requests before earlier ones are answered. Whoever has sent too many of them is not read any
 * further until some are answered: else one connection could bring as many at once as the network carries.
 */

import type { Socket } from 'node:net';

const unansweredMax = 16;

interface Pipeline {
  unanswered: number;
  isPaused: boolean;
}

export class Pipelines {
  readonly #bySocket = new WeakMap<Socket, Pipeline>();

  begun(socket: Socket): void {
    let pipeline = this.#bySocket.get(socket);
    if (!pipeline) this.#bySocket.set(socket, (pipeline = { unanswered: 0, isPaused: false }));
    // What was read already still comes.
    if (++pipeline.unanswered < unansweredMax || pipeline.isPaused) return;
    pipeline.isPaused = true;
    socket.pause();
  }

  ended(socket: Socket): void {
    const pipeline = this.#bySocket.get(socket);
    if (!pipeline || --pipeline.unanswered > 0 || !pipeline.isPaused) return;
    pipeline.isPaused = false;
    socket.resume();
  }
}

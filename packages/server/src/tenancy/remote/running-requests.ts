/**
 * Requests of a tenant that are being passed on. When the tenant is closed, those that end by themselves get a short time; then they and all
 * streams are aborted.
 */

import type { Clock } from '@hangar/core';
import { isStreaming } from '../../http/message.ts';
import type { Answer, ServerRequest, Sink, Streaming } from '../../http/message.ts';

/** Time for requests in progress, once the tenant is being closed. */
const drainMs = 500;

interface Running {
  /** Ends by itself: not a watch, a log that is followed or an upgraded connection. */
  readonly isFinite: boolean;
  end: () => void;
}

export class RunningRequests {
  readonly #clock: Clock;
  readonly #running = new Set<Running>();
  #onDrained: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Runs `pass` until its answer is sent. Its signal aborts when the request must end before its answer. */
  async run(
    request: ServerRequest,
    { isFinite }: { readonly isFinite: boolean },
    pass: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const stop = new AbortController();
    const running: Running = { isFinite, end: () => stop.abort() };
    this.#running.add(running);
    try {
      const answer = await pass(stop.signal);
      if (!isStreaming(answer.body)) {
        this.#ended(running);
        return answer;
      }
      return { ...answer, body: this.#tracked(answer.body, running, request, answer) };
    } catch (error) {
      this.#ended(running);
      throw error;
    }
  }

  /** Resolves when all requests have ended. */
  async drain(): Promise<void> {
    const isBusy = (): boolean => [...this.#running].some(({ isFinite }) => isFinite);
    if (isBusy()) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(drainMs, resolve);
        this.#onDrained = () => {
          if (isBusy()) return;
          timer.cancel();
          resolve();
        };
      });
    }
    this.#onDrained = undefined;
    for (const running of this.#running) running.end();
  }

  #tracked(body: Streaming, running: Running, request: ServerRequest, answer: Answer): Streaming {
    return {
      ...body,
      start: (sink) => {
        sink.onClose(() => this.#ended(running));
        const cut = new CutSink(sink, String(answer.headers['content-type'] ?? '').startsWith('application/json'));
        running.end = () => {
          if (answer.isTaken) request.passing?.upgrade?.socket.destroy();
          else cut.cut();
        };
        body.start(cut);
      },
    };
  }

  #ended(running: Running): void {
    if (this.#running.delete(running)) this.#onDrained?.();
  }
}

/** Sink that can be ended by both sides. A stream of JSON ends cleanly between two lines; all others are aborted. */
class CutSink implements Sink {
  readonly #sink: Sink;
  readonly #isLines: boolean;
  #isBetweenLines = true;
  #isOver = false;

  constructor(sink: Sink, isLines: boolean) {
    this.#sink = sink;
    this.#isLines = isLines;
  }

  cut(): void {
    if (this.#isOver) return;
    if (this.#isLines && this.#isBetweenLines) this.end();
    else this.abort();
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isOver) return true;
    this.#isBetweenLines = chunk.at(-1) === newline;
    return this.#sink.write(chunk);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.end();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    (this.#sink.abort ?? this.#sink.end).call(this.#sink);
  }

  waitingBytes(): number {
    return this.#sink.waitingBytes?.() ?? 0;
  }

  isFlushed(): boolean {
    return this.#sink.isFlushed?.() ?? false;
  }

  onDrain(callback: () => void): void {
    this.#sink.onDrain(callback);
  }

  onClose(callback: () => void): void {
    this.#sink.onClose(callback);
  }
}

const newline = 10;

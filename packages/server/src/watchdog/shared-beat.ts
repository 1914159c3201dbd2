/** The beat of the watched thread in memory that both threads see. */

import type { Beat } from './contract.ts';

const states = { asleep: 0, beating: 1, ending: 2 } as const;
const slots = { atMs: 0, cpuMs: 1, count: 2 } as const;

export class SharedBeat {
  readonly buffer: SharedArrayBuffer;
  readonly #values: Float64Array;

  /** One of `states`. */
  readonly #state: Int32Array;

  constructor(buffer = new SharedArrayBuffer(32)) {
    this.buffer = buffer;
    this.#values = new Float64Array(buffer, 0, 3);
    this.#state = new Int32Array(buffer, 24, 1);
  }

  /** Called by the watched thread: beats start. */
  start(): void {
    this.beat();
    Atomics.store(this.#state, 0, states.beating);
    Atomics.notify(this.#state, 0);
  }

  /** Called by the watched thread: beats stop until `start`. */
  stop(): void {
    Atomics.store(this.#state, 0, states.asleep);
  }

  /** Called by the watched thread: the process exits. No more samples may be requested and nothing journalled. */
  end(): void {
    Atomics.store(this.#state, 0, states.ending);
    Atomics.notify(this.#state, 0);
  }

  get isEnding(): boolean {
    return Atomics.load(this.#state, 0) === states.ending;
  }

  get isAsleep(): boolean {
    return Atomics.load(this.#state, 0) === states.asleep;
  }

  /** Called by the watching thread: blocks it until beats start. */
  waitForStart(): void {
    Atomics.wait(this.#state, 0, states.asleep);
  }

  /** Called only by the watched thread. */
  beat(): void {
    this.#values[slots.cpuMs] = threadCpuMs();
    this.#values[slots.atMs] = sharedClockMs();
    // Written last: a reader that sees the new count also sees the other values.
    this.#values[slots.count]!++;
  }

  get count(): number {
    return this.#values[slots.count]!;
  }

  read(): Beat {
    for (;;) {
      const { count } = this;
      const beat = { count, atMs: this.#values[slots.atMs]!, cpuMs: this.#values[slots.cpuMs]! };
      if (count === this.count) return beat;
    }
  }
}

/** The system's monotonic clock: the same for all threads of a process. */
export function sharedClockMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** CPU time that the calling thread has used. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Ports of a range on the loopback interface, each given to one program at a time. */

import { createServer } from 'node:net';
import { ProgramError } from './errors.ts';

export interface PortRange {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
}

export class Ports {
  readonly #range: PortRange;
  readonly #taken = new Set<number>();
  /** Cycles through the range, so that a port is not reused right after its program has exited. */
  #next: number;

  constructor(range: PortRange) {
    this.#range = range;
    // Processes that share a host, and by default a range, begin at different places.
    this.#next = range.from + (process.pid % sizeOf(range));
  }

  /** One that can be bound at this moment and that none of ours has, until it is released. Rejects with `NoFreePort`. */
  async take(): Promise<number> {
    for (let tried = 0; tried < sizeOf(this.#range); tried++) {
      const port = this.#next;
      this.#next = port === this.#range.to ? this.#range.from : port + 1;
      if (this.#taken.has(port)) continue;
      this.#taken.add(port);
      if (await canBeBound(port)) return port;
      this.#taken.delete(port);
    }
    const { from, to } = this.#range;
    throw new ProgramError('NoFreePort', `no free port in ${from}-${to} on 127.0.0.1`);
  }

  release(port: number): void {
    this.#taken.delete(port);
  }
}

const sizeOf = ({ from, to }: PortRange): number => to - from + 1;

function canBeBound(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

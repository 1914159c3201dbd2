/** Keeps the process alive: timers of the clock do not, and pending work must complete before the process exits by itself. */

import { MessageChannel } from 'node:worker_threads';

export async function stayingAlive<T>(work: () => Promise<T>): Promise<T> {
  const { port1 } = new MessageChannel();
  port1.ref();
  try {
    return await work();
  } finally {
    port1.close();
  }
}

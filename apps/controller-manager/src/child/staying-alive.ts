/** Timers of the clock do not keep a process alive, and what they wait for here has to be finished before it ends by itself. */

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

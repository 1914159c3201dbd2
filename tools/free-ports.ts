/**
 * Ports on loopback for programs that must be told theirs. They are below those that the system gives out by itself (32768 and up), so
 * that no connection of this machine takes one between here and the program; and each process looks in another place, so that tests
 * which run at the same time hardly ever meet.
 */

import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { randomInt } from 'node:crypto';

const [lowest, highest] = [15_000, 32_000];
let next = randomInt(lowest, highest);

/** Different ones, which nobody had a moment ago. Never the same twice in a process, unless it needs thousands. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries > highest - lowest) throw new Error('there is no free port');
    next = next >= highest ? lowest : next + 1;
    if (await isFree(next)) ports.push(next);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server: Server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

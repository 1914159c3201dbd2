/**
 * Ports on loopback for programs that require a given port. They are below the ephemeral ports (32768 and up), so that no connection of
 * this machine takes one before the program does; and each process searches in another range, so that concurrent tests rarely collide.
 */

import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { randomInt } from 'node:crypto';

const [lowest, highest] = [15_000, 32_000];
let next = randomInt(lowest, highest);

/** Returns distinct ports that were just free. Never the same twice in a process, unless it needs thousands. */
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

/** Connects to one of several backends. */

import { Socket } from 'node:net';
import type { Clock } from '@hangar/core';
import type { Backend } from './routes.ts';

export interface DialOptions {
  readonly backends: readonly Backend[];
  /** Index of the backend of the first attempt. */
  readonly first: number;
  readonly timeoutMs: number;
  readonly keepAliveMs: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly signal: AbortSignal;
}

/** With more attempts, the client would time out. */
const attemptsMax = 3;

/** Tries the backends in turn. Resolves with undefined if none accepts the connection, or after the signal. */
export async function dial(options: DialOptions): Promise<Socket | undefined> {
  const { backends, first, signal } = options;
  for (let at = 0; at < Math.min(backends.length, attemptsMax) && !signal.aborted; at++) {
    const socket = await attempt(backends[(first + at) % backends.length]!, options);
    if (socket) return socket;
  }
  return undefined;
}

function attempt(
  { host, port }: Backend,
  { timeoutMs, keepAliveMs, clock, signal }: DialOptions,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = new Socket({ allowHalfOpen: true });
    const settle = (result: Socket | undefined): void => {
      timer.cancel();
      signal.removeEventListener('abort', fail);
      socket.off('error', fail);
      if (!result) socket.on('error', () => undefined).destroy();
      resolve(result);
    };
    const fail = (): void => settle(undefined);
    const timer = clock.after(timeoutMs, fail);
    signal.addEventListener('abort', fail, { once: true });
    socket.once('error', fail);
    socket.once('connect', () => settle(socket.setNoDelay(true).setKeepAlive(true, keepAliveMs)));
    try {
      socket.connect({ host, port });
    } catch {
      // A port that is not one.
      fail();
    }
  });
}

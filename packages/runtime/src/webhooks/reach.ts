/** Checks whether the port answers TLS: readiness as in StartedChecker of controller-runtime. */

import { connect } from 'node:tls';
import type { Clock } from '@hangar/core';
import { RuntimeError } from '../errors.ts';

const timeoutMs = 10_000;

/** Rejects with `NotServing`. */
export function reach(port: number, host: string | undefined, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    // The certificate does not matter: only this process can own the port.
    const socket = connect({ port, host: host ?? 'localhost', rejectUnauthorized: false });
    const end = (error?: Error): void => {
      timer.cancel();
      socket.on('error', () => {});
      socket.destroy();
      if (error)
        reject(
          new RuntimeError('NotServing', `the webhook server is not reachable: ${error.message}`, { cause: error }),
        );
      else resolve();
    };
    const timer = clock.after(timeoutMs, () => end(new Error('timed out')));
    socket.once('secureConnect', () => end());
    socket.once('error', end);
  });
}

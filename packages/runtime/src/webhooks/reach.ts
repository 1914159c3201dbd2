/** Whether something answers TLS here: readiness as controller-runtime's StartedChecker has it. */

import { connect } from 'node:tls';
import type { Clock } from '@hangar/core';
import { RuntimeError } from '../errors.ts';

const timeoutMs = 10_000;

/** Rejects with NotServing. */
export function reach(port: number, host: string | undefined, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    // Whose certificate it is does not matter: only this process can have the port.
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

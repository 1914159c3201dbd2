/**
 * Byte streams between processes as a dependency: TCP in production, `simulation/network.ts` in tests that cut, delay
 * and partition. TLS is a layer above it, so both get the same one.
 */

import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { abortError } from './errors.ts';

export interface Address {
  host: string;
  port: number;
}

export interface Listener {
  readonly address: Address;
  /** Stops accepting and destroys the connections it accepted. */
  close(): Promise<void>;
}

export interface Transport {
  /** Resolves once connected; rejects with the system's code (`ECONNREFUSED`, …) or `Aborted`. */
  connect(address: Address, signal?: AbortSignal): Promise<Duplex>;
  /** Port 0 takes a free one. */
  listen(address: Address, accept: (connection: Duplex) => void): Promise<Listener>;
}

export const systemTransport: Transport = {
  connect(address, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const socket = connect({ ...address, noDelay: true });
      const onAbort = () => socket.destroy(abortError(signal!));
      signal?.addEventListener('abort', onAbort, { once: true });
      const onError = (error: Error) => {
        signal?.removeEventListener('abort', onAbort);
        reject(error);
      };
      socket.once('error', onError);
      socket.once('connect', () => {
        signal?.removeEventListener('abort', onAbort);
        socket.off('error', onError);
        resolve(socket);
      });
    });
  },
  listen(address, accept) {
    return new Promise((resolve, reject) => {
      const sockets = new Set<Socket>();
      const server = createServer({ noDelay: true }, (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        accept(socket);
      });
      server.once('error', reject);
      server.listen(address, () => {
        const { address: host, port } = server.address() as AddressInfo;
        resolve({
          address: { host, port },
          close: () =>
            new Promise((closed) => {
              server.close(() => closed());
              for (const socket of sockets) socket.destroy();
            }),
        });
      });
    });
  },
};

/**
 * Connections of the management plane to its nodes. Loopback addresses are refused for all control planes, so that an object cannot lead a
 * request to a program of this machine. The one exception is the kubelet API of the process runtime in this process: only the management
 * plane has this dialer, and the dialer accepts only the address and port that the runtime listens on. Addresses in Node objects cannot
 * add others.
 */

import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { OutboundError, outboundError } from '@hangar/server';
import type { ClusterDialer } from '@hangar/server';

type DialTarget = Parameters<ClusterDialer['dial']>[0];

const connectTimeoutMs = 10_000;

export interface KubeletAddress {
  readonly host: string;
  readonly port: number;
}

export class LocalKubelet implements ClusterDialer {
  #address: () => KubeletAddress | undefined = () => undefined;

  /** Accepts this address from now on, read for each connection. */
  allow(address: () => KubeletAddress | undefined): void {
    this.#address = address;
  }

  async dial({ host, port, signal }: DialTarget): Promise<Duplex> {
    const allowed = this.#address();
    if (!allowed || host !== allowed.host || port !== allowed.port) {
      throw new OutboundError(
        'Refused',
        `dial tcp ${host}:${port}: the management plane connects only to the process runtime of this server (hangar up --hosted)`,
      );
    }
    const socket = connect({ host, port, noDelay: true, timeout: connectTimeoutMs, ...(signal && { signal }) });
    return new Promise((resolve, reject) => {
      socket.once('connect', () => {
        socket.setTimeout(0);
        resolve(socket);
      });
      socket.once('timeout', () =>
        socket.destroy(new OutboundError('Timeout', `dial tcp ${host}:${port}: i/o timeout`)),
      );
      socket.once('error', (error) => reject(outboundError(error)));
    });
  }
}

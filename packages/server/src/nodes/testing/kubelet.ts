/** Test fixture: the HTTPS side of a kubelet, with a certificate of any CA and for any address. */

import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';

export const world = { clock: systemClock, random: systemRandom };

export interface KubeletOptions {
  /** CA of the serving certificate. */
  readonly authority: KeyPair;
  /** Addresses of the serving certificate. */
  readonly hosts: readonly string[];
  readonly handler?: RequestListener;
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface TestKubelet extends AsyncDisposable {
  readonly port: number;
  readonly certificate: string;
  /** Requests in order, with the common name of their client certificate. */
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    readonly user: string;
    /** Whether the client certificate is of the CA of the serving certificate. */
    readonly isAuthorized: boolean;
  }[];
  readonly connections: number;
}

export async function startKubelet(options: KubeletOptions): Promise<TestKubelet> {
  const { authority, hosts, handler = (_, response) => response.end('ok'), onUpgrade } = options;
  const serving = issueCertificate(authority, { commonName: 'kubelet', hosts, usage: 'server', days: 1 }, world);
  const requests: TestKubelet['requests'] = [];
  const record = ({ method = '', url = '', headers, socket }: IncomingMessage): void => {
    const subject = (socket as TLSSocket).getPeerCertificate?.().subject as { CN?: string } | undefined;
    const { authorized: isAuthorized } = socket as TLSSocket;
    requests.push({ method, url, headers, user: subject?.CN ?? '', isAuthorized });
  };
  const server = createServer(
    {
      key: serving.key,
      cert: serving.certificate,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      record(request);
      handler(request, response);
    },
  );
  if (onUpgrade) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      record(request);
      socket.on('error', () => socket.destroy());
      onUpgrade(request, socket, head);
    });
  }
  let connections = 0;
  server.on('secureConnection', (socket) => {
    connections++;
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (_: IncomingMessage, socket: Duplex) => upgraded.add(socket));
  return {
    port: (server.address() as AddressInfo).port,
    certificate: serving.certificate,
    requests,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A minimal aggregated server behind an APIService: responds under control of the test. */

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { world } from './hub.ts';

export interface Remote extends AsyncDisposable {
  readonly port: number;
  readonly ca: string;
  /** Received requests, without those for discovery. */
  readonly requests: Seen[];
  stop(): Promise<void>;
}

export interface Seen {
  readonly method: string;
  readonly url: string;
  /** Names and values alternate, as received. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  /** Common name of the client certificate. */
  readonly peer: string;
  readonly body: string;
}

export interface RemoteOptions {
  readonly group: string;
  /** CA of accepted front proxies; others are refused in the handshake. */
  readonly clientCa: string;
  answer(seen: Seen, response: ServerResponse): void;
  /** Its OpenAPI v2 document; absent: it has none. */
  readonly openApi?: string;
  /** Absent: the protocol is not switched. */
  upgrade?(socket: Duplex): void;
}

export async function startRemote({ group, clientCa, answer, upgrade, openApi }: RemoteOptions): Promise<Remote> {
  const authority = createAuthority('remote-ca', 1, world);
  const name = `${group.split('.')[0]!}.default.svc`;
  const serving = issueCertificate(authority, { commonName: name, usage: 'server', hosts: [name], days: 1 }, world);
  const requests: Seen[] = [];
  const server = createServer({
    key: serving.key,
    cert: serving.certificate,
    ca: clientCa,
    requestCert: true,
    rejectUnauthorized: true,
    shouldUpgradeCallback: () => upgrade !== undefined,
  });
  server.on('request', async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    const { method = '', url = '', rawHeaders, headers } = incoming;
    if (url === `/apis/${group}/v1`) {
      const resources = [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'] }];
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources }),
      );
      return;
    }
    if (url === '/openapi/v2' && openApi !== undefined) {
      response.end(openApi);
      return;
    }
    if (url === '/apis' || url.startsWith('/openapi')) {
      response.writeHead(404).end();
      return;
    }
    const peer = String((incoming.socket as TLSSocket).getPeerCertificate().subject.CN);
    const seen = { method, url, rawHeaders, headers, peer, body };
    requests.push(seen);
    answer(seen, response);
  });
  server.on('upgrade', (incoming, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Own: yes\r\n\r\n');
    requests.push({
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      rawHeaders: incoming.rawHeaders,
      headers: incoming.headers,
      peer: '',
      body: '',
    });
    upgrade?.(socket);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const { port } = server.address() as AddressInfo;
  return { port, ca: authority.certificate, requests, stop, [Symbol.asyncDispose]: stop };
}

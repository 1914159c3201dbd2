/** An API server as the kubelet API sees it: its certificate, requests, and SPDY connections. */

import { request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Client } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { Node } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { SpdyConnection } from '@hangar/http2/spdy';
import { createAuthority, issueCertificate, readCertificateRequest, signRequest } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { nodeName, until } from './ground.ts';

const world = { clock: systemClock, random: systemRandom };
export const clients = createAuthority('clients', 1, world);
export const serving = createAuthority('kubelets', 1, world);
const certificateOf = (commonName: string, organizations: readonly string[]): KeyPair =>
  issueCertificate(clients, { commonName, organizations, usage: 'client', days: 1 }, world);
const apiServer = certificateOf('apiserver', ['system:masters']);
/** A user with a certificate of the control plane and without rights. */
export const ordinary = certificateOf('ordinary', []);

/** Signs the approved request of the runtime, as a controller of the control plane does. */
export async function signServingRequest(client: Client, authority: KeyPair = serving): Promise<void> {
  const found = await until('an approved request', async () => {
    const { items } = await client.list(CertificateSigningRequest);
    return items.find(({ status }) => status?.conditions?.some(({ type }) => type === 'Approved'));
  });
  const now = systemClock.now();
  const certificate = signRequest(
    authority,
    {
      request: readCertificateRequest(Buffer.from(found.spec.request, 'base64').toString()),
      keyUsage: 1,
      extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'],
      validity: { notBeforeMs: now - 60_000, notAfterMs: now + 3_600_000 },
    },
    world,
  );
  const status = { ...found.status, certificate: Buffer.from(certificate).toString('base64') };
  await client.status.update(CertificateSigningRequest, { ...found, status });
}

export async function kubeletPort(client: Client): Promise<number> {
  return until('the port of the kubelet API', async () => {
    const { status } = await client.get(Node, { name: nodeName });
    return status?.daemonEndpoints?.kubeletEndpoint?.Port || undefined;
  });
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request as the API server. */
export function get(
  port: number,
  path: string,
  { onText, user = apiServer }: { onText?: (text: string) => void; user?: KeyPair } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca: serving.certificate, agent: false as const };
    const sent = request({ ...options, cert: user.certificate, key: user.key }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        onText?.(text);
      });
      response.once('end', () => resolve({ status: response.statusCode!, text }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** Upgrades a request to SPDY. Rejects with the text of the response if it is refused. */
export function spdy(port: number, path: string, protocol: string, user = apiServer): Promise<SpdyConnection> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, ca: serving.certificate };
    const sent = request({ ...options, agent: false, cert: user.certificate, key: user.key });
    sent.once('error', reject);
    sent.once('upgrade', (_response, socket: Duplex) => resolve(new SpdyConnection(socket, () => {})));
    sent.once('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () => reject(new Error(`${response.statusCode}: ${text}`)));
    });
    sent.end();
  });
}

/** A stream whose content is collected. */
export class CollectedStream {
  text = '';
  readonly ended: Promise<string>;
  readonly id: number;

  constructor(connection: SpdyConnection, headers: Readonly<Record<string, string>>) {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.ended = promise;
    this.id = connection.open(headers, {
      data: (piece) => (this.text += piece.toString()),
      end: () => resolve(this.text),
    });
  }
}

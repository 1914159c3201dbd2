/** A client of webhooks over TLS, as an API server is one. */

import { request } from 'node:https';
import type { Agent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { WebhookAnswer } from '../endpoint.ts';

export interface PostOptions {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  /** Absent: a connection of its own. */
  readonly agent?: Agent;
}

export interface PostAnswer extends WebhookAnswer {
  /** Of the server, in hexadecimal: which certificate this connection has. */
  readonly serial: string;
}

export function post(path: string, body: object | string, { port, agent, ...tls }: PostOptions): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: 'localhost',
        port,
        path,
        method: 'POST',
        agent: agent ?? false,
        headers: { 'content-type': 'application/json' },
        ...tls,
      },
      (response) => {
        const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
        response
          .toArray()
          .then((chunks) =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers as Record<string, string>,
              body: Buffer.concat(chunks as Buffer[]),
              serial,
            }),
          )
          .catch(reject);
      },
    );
    asked.on('error', reject);
    asked.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

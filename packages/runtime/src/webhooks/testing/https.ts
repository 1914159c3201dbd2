/** A client of webhooks over TLS that acts as an API server. */

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
  /** Absent: a separate connection. */
  readonly agent?: Agent;
}

export interface PostAnswer extends WebhookAnswer {
  /** Serial number of the server certificate of this connection, in hexadecimal. */
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

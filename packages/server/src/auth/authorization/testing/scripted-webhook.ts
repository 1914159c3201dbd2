/** A webhook with scripted responses, and a kubeconfig for it. */

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { JsonObject } from '@hangar/api';

export class ScriptedWebhook implements AsyncDisposable {
  readonly asked: JsonObject[] = [];
  status = 200;
  /** Responses wait for this promise. */
  ready: Promise<unknown> = Promise.resolve();
  #answer: JsonObject = {};
  readonly #server: Server;
  readonly #ca: string;

  private constructor(server: Server, ca: string) {
    this.#server = server;
    this.#ca = ca;
  }

  static async start(): Promise<ScriptedWebhook> {
    const world = { clock: systemClock, random: systemRandom };
    const authority = createAuthority('webhook-ca', 1, world);
    const pair = issueCertificate(
      authority,
      { commonName: 'webhook', usage: 'server', hosts: ['127.0.0.1'], days: 1 },
      world,
    );
    const server = createServer({ key: pair.key, cert: pair.certificate });
    const webhook = new ScriptedWebhook(server, authority.certificate);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
        webhook.asked.push(review);
        void webhook.ready.then(() => {
          const { kind, apiVersion } = review;
          response.writeHead(webhook.status, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ kind, apiVersion, status: webhook.#answer }));
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return webhook;
  }

  answer(status: JsonObject): void {
    this.#answer = status;
  }

  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    return JSON.stringify({
      kind: 'Config',
      apiVersion: 'v1',
      'current-context': 'webhook',
      contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'server' } }],
      clusters: [
        {
          name: 'webhook',
          cluster: {
            server: `https://127.0.0.1:${port}/authorize`,
            'certificate-authority-data': Buffer.from(this.#ca).toString('base64'),
          },
        },
      ],
      users: [{ name: 'server', user: {} }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

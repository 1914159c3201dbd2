/** A webhook over TLS in this process: records the received reviews, and responds under control of the test. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { Data } from './test-server.ts';

export interface WebhookServer extends AsyncDisposable {
  /** Returns a `clientConfig` for a path. */
  clientConfig(path?: string): { url: string; caBundle: string };
  readonly port: number;
  /** PEM in base64. */
  readonly caBundle: string;
  /** The received reviews, with their path and query and the user agent. */
  readonly received: { readonly path: string; readonly agent: string; readonly review: Data }[];
  /** Resolves when the next review was received. */
  next(): Promise<void>;
}

/** Returns the review for the response, or writes the response itself. */
export type WebhookHandler = (review: Data, response: ServerResponse, path: string) => Data | Promise<Data>;

const world = { clock: systemClock, random: systemRandom };

/** Nothing is sent if the handler returns undefined: then it responds itself, or never. */
export async function startWebhook(handler: WebhookHandler): Promise<WebhookServer> {
  const authority = createAuthority('webhooks', 1, world);
  const hosts = ['127.0.0.1', 'localhost', 'hook.default.svc'];
  const serving = issueCertificate(authority, { commonName: 'webhook', hosts, usage: 'server', days: 1 }, world);
  const received: { path: string; agent: string; review: Data }[] = [];
  let waiting: (() => void)[] = [];
  const server = createServer({ key: serving.key, cert: serving.certificate }, (request, response) => {
    void (async () => {
      const chunks = await request.toArray();
      const review = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as Data;
      received.push({ path: request.url!, agent: request.headers['user-agent'] ?? '', review });
      for (const resolve of waiting.splice(0)) resolve();
      const answer = await handler(review, response, request.url!.split('?')[0]!);
      if (answer !== undefined)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    })().catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  return {
    port,
    caBundle,
    received,
    clientConfig: (path = '/') => ({ url: `https://127.0.0.1:${port}${path}`, caBundle }),
    next: () => new Promise((resolve) => (waiting = [...waiting, resolve])),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns the response to an AdmissionReview. */
export const answered = ({ apiVersion, kind, request }: Data, response: object): Data => ({
  apiVersion,
  kind,
  response: { uid: request.uid, ...response },
});

export const allowed = (review: Data): Data => answered(review, { allowed: true });

export const denied = (review: Data, status?: object): Data => answered(review, { allowed: false, status });

/** Returns an allowed response with these changes. */
export const patched = (review: Data, operations: readonly object[]): Data =>
  answered(review, {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  });

/** Simulates a kube-controller-manager: a small server with a self-signed certificate. */

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testAuthority } from '@hangar/testkit';

export interface FakeChild extends AsyncDisposable {
  readonly port: number;
  /** Number of requests. */
  readonly asked: () => number;
}

const { certificate, key } = testAuthority().serving();

export async function fakeChild(
  answer: string | ((response: ServerResponse, request: IncomingMessage) => void),
): Promise<FakeChild> {
  let asked = 0;
  const server = createServer({ cert: certificate, key }, (request, response) => {
    asked++;
    if (typeof answer !== 'string') return answer(response, request);
    if (request.url !== '/metrics') response.statusCode = 404;
    response.end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

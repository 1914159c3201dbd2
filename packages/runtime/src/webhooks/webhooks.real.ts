/** Against the real kube-apiserver, and against Hangar behind a separate socket. */

import { after, before } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { httpTransport } from '@hangar/client';
import type { HttpTransport } from '@hangar/client';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { webhookSuite } from './testing/suite.ts';

let real: RealServer;
let hangar: TestCluster;
const transports: HttpTransport[] = [];

before(async () => {
  [real, hangar] = await Promise.all([startRealServer(), startTestCluster({ listen: true })]);
});

after(async () => {
  await Promise.all(transports.map((transport) => transport.close()));
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

/** Sends requests through the server helper, which keeps address and token private. */
const realTransport = (): HttpTransport => ({
  async request({ method, target, headers = {}, body }) {
    const answer = await real.request(method, target, {
      ...(body ? { body } : {}),
      ...(headers['content-type'] ? { contentType: headers['content-type'] } : {}),
    });
    return {
      status: answer.status,
      header: (name) => answer.headers[name]?.toString(),
      body: async () => answer.body,
      async *stream() {
        yield answer.body;
      },
    };
  },
  close: async () => {},
});

webhookSuite('kube-apiserver', async () => realTransport());
webhookSuite('Hangar', async () => {
  const transport = httpTransport(hangar.config);
  transports.push(transport);
  return transport;
});

import { after } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import type { Client } from '../client.ts';
import { httpTransport } from '../transport/http-transport.ts';
import { RestClient } from './rest-client.ts';
import { clientSuite } from './testing/client-suite.ts';

let started: Promise<TestCluster> | undefined;
const clients: Client[] = [];
const cluster = (): Promise<TestCluster> => (started ??= startTestCluster({ listen: true, authorization: 'rbac' }));

const remembered = (client: Client): Client => {
  clients.push(client);
  return client;
};

after(async () => {
  for (const client of clients) await client.close();
  await (await started)?.[Symbol.asyncDispose]();
});

clientSuite('in process', async () => {
  const { transportOf } = await cluster().then((one) => ({ transportOf: () => one.transportOf() }));
  return { client: (options) => remembered(new RestClient(transportOf(), options)) };
});

for (const protocol of ['h2', 'http/1.1'] as const) {
  clientSuite(`over ${protocol}`, async () => {
    const { config } = await cluster();
    const options = { protocols: [protocol], environment: {} };
    return {
      client: (rest) => remembered(new RestClient(httpTransport(config, options), rest)),
      clientAs: (impersonate) => remembered(new RestClient(httpTransport({ ...config, impersonate }, options))),
    };
  });
}

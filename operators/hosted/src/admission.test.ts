import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { install, WebhookServer } from '@hangar/runtime/webhooks';
import { installCrd, startTestCluster, testAuthority } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { hostedWebhooks } from './admission.ts';
import { definitions } from './api/generated/index.ts';
import { HostedControlPlane } from './api/index.ts';

const namespace = 'default';
const reserved = { deployment: { apiServer: { args: { 'etcd-servers': 'https://example.org' } } } };
const reservedMessage = /the arguments etcd-servers of kube-apiserver are set by the operator: remove them from spec/;

let cluster: TestCluster;
let serving: Promise<void>;
const ended = new AbortController();
const authority = testAuthority();
const server = new WebhookServer({ port: 0, host: '127.0.0.1', certificates: authority.serving() });

/** Creates objects before the webhook is installed, then installs it. */
before(async () => {
  cluster = await startTestCluster();
  const { client } = cluster;
  for (const definition of definitions) await installCrd(client, definition);
  await client.create(HostedControlPlane, {
    metadata: { namespace, name: 'before' },
    spec: { version: 'v1.36.4', ...reserved },
  });
  for (const hook of hostedWebhooks()) server.register(hook);
  serving = server.start(ended.signal);
  for (let isListening = false; !isListening;) {
    isListening = await server.started().then(
      () => true,
      () => new Promise<false>((resolve) => setImmediate(() => resolve(false))),
    );
  }
  const url = `https://127.0.0.1:${server.port}`;
  await install(client, server, { name: 'hosted', url, caBundle: authority.certificate, fieldManager: 'test' });
});
after(async () => {
  ended.abort();
  await serving;
  await cluster[Symbol.asyncDispose]();
});

const create = (name: string, spec: HostedControlPlane['spec']): Promise<HostedControlPlane> =>
  cluster.client.create(HostedControlPlane, { metadata: { namespace, name }, spec });

test('an argument that the operator sets is denied', async () => {
  await assert.rejects(create('reserved', { version: 'v1.36.4', ...reserved }), reservedMessage);
});

test('a version that the operator does not support is denied', async () => {
  await assert.rejects(create('old', { version: 'v1.20.0' }), /spec\.version v1\.20\.0 is not supported/);
});

test('a valid object is created, and cannot become invalid', async () => {
  await create('valid', { version: 'v1.36.4' });
  const body = { spec: reserved };
  const update = cluster.client.patch(HostedControlPlane, { namespace, name: 'valid' }, { type: 'merge', body });
  await assert.rejects(update, reservedMessage);
});

test('an object that was invalid before can change its metadata', async () => {
  const body = { metadata: { labels: { team: 'a' } } };
  const { metadata } = await cluster.client.patch(
    HostedControlPlane,
    { namespace, name: 'before' },
    { type: 'merge', body },
  );
  assert.deepEqual(metadata.labels, { team: 'a' });
});

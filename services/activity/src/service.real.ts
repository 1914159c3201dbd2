/** The service behind a real kube-apiserver: its audit webhook delivers events, and its aggregation layer serves the API. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { systemClock } from '@hangar/core';
import { registration } from '@hangar/server/library';
import { testAuthority } from '@hangar/testkit';
import { freePorts } from '../../../tools/free-ports.ts';
import { ManagementDirectory, readerOf } from './scope/directory.ts';
import { startActivityService } from './service.ts';

const base = '/apis/activity.miloapis.com/v1alpha1';
const ingestToken = 'webhook-token';
const serviceToken = 'service-token';
const patienceMs = 120_000;

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: RequestResponse, namespaces: [default], verbs: [create, update, patch, delete]}
- {level: None}
`;

const webhook = (port: number): string => `
apiVersion: v1
kind: Config
clusters: [{name: activity, cluster: {server: 'https://127.0.0.1:${port}/ingest/audit', insecure-skip-tls-verify: true}}]
users: [{name: webhook, user: {token: ${ingestToken}}}]
contexts: [{name: webhook, context: {cluster: activity, user: webhook}}]
current-context: webhook
`;

async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    assert.ok(performance.now() < deadlineMs, `timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('a real kube-apiserver delivers its audit events and serves queries and activities', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-activity-real-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const [port] = await freePorts(1);
  const authority = testAuthority('front-proxy');
  const proxy = authority.client('front-proxy-client');
  const files = {
    'policy.yaml': policy,
    'webhook.yaml': webhook(port!),
    'proxy-ca.crt': authority.certificate,
    'proxy.crt': proxy.certificate,
    'proxy.key': proxy.key,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const real = opened.use(
    await startRealServer(
      [
        `--audit-policy-file=${join(folder, 'policy.yaml')}`,
        `--audit-webhook-config-file=${join(folder, 'webhook.yaml')}`,
        '--audit-webhook-batch-max-wait=200ms',
        '--audit-webhook-initial-backoff=200ms',
        `--requestheader-client-ca-file=${join(folder, 'proxy-ca.crt')}`,
        '--requestheader-allowed-names=front-proxy-client',
        '--requestheader-username-headers=X-Remote-User',
        '--requestheader-group-headers=X-Remote-Group',
        '--requestheader-extra-headers-prefix=X-Remote-Extra-',
        `--proxy-client-cert-file=${join(folder, 'proxy.crt')}`,
        `--proxy-client-key-file=${join(folder, 'proxy.key')}`,
      ],
      [{ token: serviceToken, user: 'activity', groups: ['system:masters'] }],
    ),
  );
  const access = { server: real.url, isInsecure: true, token: () => Promise.resolve(serviceToken) };
  const reader = readerOf(access, systemClock);
  opened.defer(() => reader.close());
  const service = await startActivityService({
    database: join(folder, 'activity.db'),
    access,
    directory: new ManagementDirectory(reader.read, systemClock),
    credentials: [{ token: ingestToken, plane: undefined }],
    host: '127.0.0.1',
    port: port!,
    hosts: ['localhost', 'activity.default.svc'],
    onError: () => undefined,
  });
  opened.defer(() => service.close());

  const ask = async (method: string, path: string, body?: object) => {
    const answer = await real.request(method, path, body ? { body: JSON.stringify(body) } : {});
    const text = answer.body.toString();
    return { status: answer.status, data: text.startsWith('{') ? JSON.parse(text) : { text } };
  };
  const expect = async (status: number, ...all: Parameters<typeof ask>) => {
    const answer = await ask(...all);
    assert.equal(answer.status, status, JSON.stringify(answer.data));
    return answer.data;
  };
  const target = { namespace: 'default', name: 'activity', port: port! };
  await expect(201, 'POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'activity' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  for (const object of registration({ kinds: service.kinds, service: target, ca: service.ca! })) {
    await expect(201, 'POST', '/apis/apiregistration.k8s.io/v1/apiservices', object);
  }
  const deployment = {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    },
  };
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  await expect(201, 'POST', deployments, deployment);
  const scale = await expect(200, 'GET', `${deployments}/web/scale`);
  await expect(200, 'PUT', `${deployments}/web/scale`, { ...scale, spec: { replicas: 5 } });

  const summaries = await until('the activity of the scaling', async () => {
    const { status, data } = await ask('GET', `${base}/activities?limit=100`);
    const found: string[] =
      status === 200 ? data.items.map((one: { spec: { summary: string } }) => one.spec.summary) : [];
    return found.some((summary) => summary.includes('scaled')) ? found : undefined;
  });
  assert.ok(summaries.includes('admin created Deployment web in namespace default'), summaries.join('\n'));
  assert.ok(summaries.includes('admin scaled Deployment web from 2 to 5'), summaries.join('\n'));
  assert.equal(new Set(summaries).size, summaries.length, 'once each');

  const made = await expect(201, 'POST', `${base}/auditlogqueries`, {
    kind: 'AuditLogQuery',
    apiVersion: 'activity.miloapis.com/v1alpha1',
    metadata: { name: 'q' },
    spec: { startTime: 'now-1h', filter: 'verb == "update" && objectRef.subresource == "scale"' },
  });
  assert.equal(made.status.results.length, 1);
  assert.equal(made.status.results[0].responseObject.spec.replicas, 5);
});

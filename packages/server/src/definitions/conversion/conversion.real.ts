/** The same conversion webhook behind a real kube-apiserver and behind Hangar. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { Outbound } from '../../outbound/index.ts';
import { compareServers } from '../../testing/both-servers.ts';
import type { Step } from '../../testing/both-servers.ts';
import { startInProcess } from '../../testing/in-process.ts';
import type { InProcessServer } from '../../testing/in-process.ts';
import type { Data } from '../../testing/test-server.ts';
import { startWebhook } from '../../testing/webhook-server.ts';
import type { WebhookServer } from '../../testing/webhook-server.ts';

let real: RealServer;
let hangar: InProcessServer;
let outbound: Outbound;
let hook: WebhookServer;

/** Current failure mode of the webhook. */
let failure: '' | 'refusal' | 'error' | 'count' | 'version' | 'name' | 'label' = '';

const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';
const path = (version: string): string => `/apis/example.com/${version}/namespaces/default/widgets`;

/** v1 has `size`; v2 has `length` for the same value and a label that marks it; `extra` of v2 does not exist in v1. */
function converted(object: Data, apiVersion: string): Data {
  const { size, length, extra: _, ...rest } = object.spec ?? {};
  const value = size ?? length;
  const isFirst = apiVersion.endsWith('/v1');
  const spec = { ...rest, ...(value === undefined ? {} : { [isFirst ? 'size' : 'length']: value }) };
  const { shown: __, ...labels } = object.metadata.labels ?? {};
  const metadata = { ...object.metadata, labels: isFirst ? labels : { ...labels, shown: 'v2' } };
  if (failure === 'name') metadata.name = 'other';
  if (failure === 'label') metadata.labels = { 'not a label': 'x' };
  return { ...object, apiVersion: failure === 'version' ? object.apiVersion : apiVersion, metadata, spec };
}

before(async () => {
  hook = await startWebhook(({ apiVersion, kind, request }, response) => {
    if (failure === 'error') return void response.writeHead(500).end('oh no');
    const all = request.objects.map((one: Data) => converted(one, request.desiredAPIVersion));
    const result = failure === 'refusal' ? { status: 'Failure', message: 'I will not' } : { status: 'Success' };
    const convertedObjects = failure === 'count' ? [] : all;
    return { apiVersion, kind, response: { uid: request.uid, result, convertedObjects } };
  });
  outbound = new Outbound({ allow: ['127.0.0.0/8'] });
  [real, hangar] = await Promise.all([startRealServer(), startInProcess({ outbound })]);
  const version = (name: string, properties: object): object => ({
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties },
          status: { type: 'object', properties: { ok: { type: 'boolean' } } },
        },
      },
    },
  });
  const integer = { type: 'integer' };
  const body = JSON.stringify({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version('v1', { size: integer }), version('v2', { length: integer, extra: { type: 'string' } })],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: hook.clientConfig('/convert'), conversionReviewVersions: ['v1'] },
      },
    },
  });
  for (const server of [real, hangar]) {
    await server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
    for (let attempt = 0; (await server.request('GET', path('v1'))).status !== 200; attempt++) {
      assert.ok(attempt < 200, 'the definition is not served');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
});

after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
  outbound?.close();
  await hook?.[Symbol.asyncDispose]();
});

const widget = (version: string, name: string, spec: object): object => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name },
  spec,
});

const compare = async (steps: readonly Step[]): Promise<void> =>
  assert.deepEqual(await compareServers(real, hangar, steps), []);

test('every verb in both versions answers alike', () =>
  compare([
    { method: 'POST', path: `${path('v1')}?fieldManager=a1`, body: widget('v1', 'one', { size: 1 }) },
    { method: 'POST', path: `${path('v2')}?fieldManager=a1`, body: widget('v2', 'two', { length: 2, extra: 'x' }) },
    {
      method: 'POST',
      path: `${path('v2')}?dryRun=All&fieldManager=a1`,
      body: widget('v2', 'dry', { length: 2, extra: 'x' }),
    },
    ...['v1', 'v2'].flatMap((version) => [
      { method: 'GET', path: `${path(version)}/one` },
      { method: 'GET', path: `${path(version)}/two` },
      { method: 'GET', path: path(version) },
      { method: 'GET', path: `${path(version)}?labelSelector=shown%3Dv2` },
    ]),
    { method: 'PATCH', path: `${path('v2')}/one?fieldManager=a2`, body: { spec: { length: 5 } }, contentType: merge },
    { method: 'GET', path: `${path('v1')}/one` },
    {
      method: 'PATCH',
      path: `${path('v2')}/one/status?fieldManager=a3`,
      body: { status: { ok: true } },
      contentType: merge,
    },
    { method: 'PATCH', path: `${path('v1')}/one?fieldManager=a4`, body: { spec: { size: 6 } }, contentType: merge },
    {
      method: 'PATCH',
      path: `${path('v2')}/applied?fieldManager=s`,
      body: widget('v2', 'applied', { length: 3 }),
      contentType: apply,
    },
    {
      method: 'PATCH',
      path: `${path('v2')}/applied?fieldManager=s`,
      body: widget('v2', 'applied', { length: 4 }),
      contentType: apply,
    },
    { method: 'GET', path: `${path('v1')}/applied` },
    { method: 'DELETE', path: `${path('v2')}/two` },
    { method: 'GET', path: `${path('v2')}/two` },
  ]));

test('a webhook that fails is told in the same words', async () => {
  for (failure of ['refusal', 'error', 'count', 'version', 'name', 'label'] as const) {
    await compare([
      { method: 'GET', path: `${path('v2')}/one` },
      { method: 'POST', path: path('v2'), body: widget('v2', 'failing', { length: 1 }) },
      { method: 'GET', path: `${path('v1')}/one` },
    ]);
  }
  failure = '';
});

test('a webhook is sent the same reviews', async () => {
  const reviewsOf = async (server: RealServer | InProcessServer): Promise<unknown> => {
    hook.received.length = 0;
    await server.request('GET', `${path('v2')}/one`);
    const isHangar = server === hangar;
    const { review } = hook.received.find(
      ({ agent, review: one }) => agent.startsWith('hangar') === isHangar && one.request.objects.length === 1,
    )!;
    const { request } = review;
    const [object] = request.objects;
    request.uid = '';
    object.metadata = Object.keys(object.metadata).sort();
    return review;
  };
  assert.deepEqual(await reviewsOf(hangar), await reviewsOf(real));
});

/** Configurations that a real kube-apiserver refuses must be refused with the same message. */

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject, KubeObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import type { RealServer } from '../testing/real-server.ts';
import { applyObject } from './index.ts';
import { configMap, deployment, service, widget } from './random-kinds.ts';
import type { RandomKind } from './random-kinds.ts';
import { comparableStatus, startServerWithWidgets, typeOfKind } from './real-support.ts';

let server: RealServer;

before(async () => {
  server = await startServerWithWidgets();
});
after(() => server[Symbol.asyncDispose]());

const metadata = { name: 'refused', namespace: 'default' };

const refused: readonly (readonly [what: string, kind: RandomKind, config: JsonObject])[] = [
  ['an unknown field', configMap, { metadata, unknown: 1 }],
  ['an unknown field deep down', deployment, { metadata, spec: { template: { spec: { nope: 1 } } } }],
  ['a number for a text', configMap, { metadata, data: { a: 1 } }],
  ['a boolean for a text', configMap, { metadata, data: { a: true } }],
  ['a fraction for a text', configMap, { metadata, data: { a: 1.5 } }],
  ['a map for a text', configMap, { metadata, data: { a: { b: 'c', a: [1, 'x', null] } } }],
  ['a list for a map', configMap, { metadata, data: ['a', 1] }],
  ['a text for a map', configMap, { metadata, data: 'text' }],
  ['a text for a number', deployment, { metadata, spec: { replicas: 'three' } }],
  ['a list for a number', deployment, { metadata, spec: { replicas: [3] } }],
  ['a map for a number', deployment, { metadata, spec: { replicas: { a: 1 } } }],
  ['a text for a boolean', deployment, { metadata, spec: { paused: 'yes' } }],
  ['a map for a boolean', deployment, { metadata, spec: { paused: { b: 2, a: 1 } } }],
  ['a map for a list', deployment, { metadata, spec: { template: { spec: { containers: { a: 1 } } } } }],
  [
    'a map for a quantity',
    deployment,
    { metadata, spec: { template: { spec: { containers: [{ name: 'a', resources: { limits: { cpu: {} } } }] } } } },
  ],
  [
    'an item twice',
    deployment,
    { metadata, spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } } },
  ],
  [
    'ports twice, one by default',
    service,
    { metadata, spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } },
  ],
  ['a set with a value twice', widget, { metadata, spec: { set: ['a', 'b', 'a'] } }],
  ['numbers twice', widget, { metadata, spec: { numbers: [1, 1] } }],
  ['a null in a set', widget, { metadata, spec: { set: [null] } }],
  ['a map in a set', widget, { metadata, spec: { set: [{}] } }],
  ['a list in a set', widget, { metadata, spec: { set: [[]] } }],
  ['an item without its key', widget, { metadata, spec: { keyed: [{ value: 1 }] } }],
  ['an item that is null', widget, { metadata, spec: { keyed: [null] } }],
  ['an item that is a text', widget, { metadata, spec: { keyed: ['a'] } }],
  ['a wrong type in an item', widget, { metadata, spec: { keyed: [{ name: 'a', tags: 'x' }] } }],
  ['a wrong type in an atomic list', widget, { metadata, spec: { atomicList: ['a', 1] } }],
  ['a text for a map with fields', widget, { metadata, spec: { nested: 'x' } }],
  ['an unknown field of a custom resource', widget, { metadata, spec: { other: 1 } }],
  ['managed fields', configMap, { metadata: { ...metadata, managedFields: [{ manager: 'me' }] } }],
  ['managed fields that are empty', configMap, { metadata: { ...metadata, managedFields: [] } }],
  ['managed fields of a custom resource', widget, { metadata: { ...metadata, managedFields: [{}] } }],
  ['another kind', configMap, { metadata, kind: 'Secret' }],
  ['another version', deployment, { metadata, apiVersion: 'apps/v1beta1' }],
  ['labels that are numbers', configMap, { metadata: { ...metadata, labels: { a: 1 } } }],
];

const apply = 'application/apply-patch+yaml';

async function compare(kind: RandomKind, patch: JsonObject, live: KubeObject | undefined): Promise<void> {
  const name = (patch['metadata'] as { name: string }).name;
  const answer = await server.request('PATCH', `${kind.path}/${name}?fieldManager=me`, {
    body: JSON.stringify(patch),
    contentType: apply,
  });
  const theirs = JSON.parse(answer.body.toString()) as JsonObject;
  assert.ok(answer.status >= 400, `not refused: ${JSON.stringify(theirs)}`);
  const common = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    subresource: '',
    now: '2026-01-01T00:00:00Z',
    resetFields: [],
  };
  const ours = (): unknown =>
    applyObject({ ...common, type: typeOfKind(kind), live, patch, manager: 'me', force: false });
  assert.throws(ours, (error) => {
    assert.ok(error instanceof StatusError, String(error));
    assert.deepEqual(comparableStatus(error.status), comparableStatus(theirs));
    return true;
  });
}

suite('what kube-apiserver refuses to apply is refused in the same words', () => {
  for (const [what, kind, config] of refused) {
    test(what, () => compare(kind, { apiVersion: kind.apiVersion, kind: kind.kind, ...config }, undefined));
  }
});

suite('conflicts are told in the same words', () => {
  const spec = (replicas: number, image: string, port: number): JsonObject => ({
    replicas,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image, ports: [{ containerPort: port, name: 'x' }] }] },
    },
  });
  const object = (name: string, content: JsonObject): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: content,
  });
  const send = async (
    method: string,
    path: string,
    body: JsonObject,
    contentType = 'application/json',
  ): Promise<KubeObject> => {
    const answer = await server.request(method, path, { body: JSON.stringify(body), contentType });
    assert.ok(answer.status < 300, answer.body.toString());
    return JSON.parse(answer.body.toString()) as KubeObject;
  };

  test('one field of one manager', async () => {
    const live = await send('POST', `${deployment.path}?fieldManager=creator`, object('one', spec(1, 'i', 80)));
    await compare(deployment, object('one', spec(2, 'i', 80)), live);
  });

  test('several fields of one manager', async () => {
    const live = await send('POST', `${deployment.path}?fieldManager=creator`, object('several', spec(1, 'i', 80)));
    await compare(deployment, object('several', spec(2, 'j', 80)), live);
  });

  test('fields of several managers', async () => {
    await send('POST', `${deployment.path}?fieldManager=creator`, object('more', spec(1, 'i', 80)));
    const path = `${deployment.path}/more`;
    await send('PATCH', `${path}?fieldManager=applier&force=true`, object('more', spec(3, 'i', 80)), apply);
    await send(
      'PATCH',
      `${path}?fieldManager=z"quoted"`,
      { metadata: { labels: { l: '1' } } },
      'application/merge-patch+json',
    );
    const live = await send(
      'PATCH',
      `${path}/status?fieldManager=status`,
      { metadata: { annotations: { n: '1' } } },
      'application/merge-patch+json',
    );
    const only = (replicas: number, image: string, labels: JsonObject): JsonObject => {
      const one = object('more', spec(replicas, image, 80));
      one['metadata'] = { name: 'more', namespace: 'default', labels };
      return one;
    };
    await compare(deployment, only(2, 'i', { l: '1' }), live);
    await compare(deployment, only(3, 'j', { l: '1' }), live);
    await compare(deployment, only(3, 'i', { l: '2' }), live);
    await compare(deployment, only(2, 'j', { l: '2' }), live);
    const annotated = only(3, 'i', { l: '1' });
    (annotated['metadata'] as JsonObject)['annotations'] = { n: '2' };
    await compare(deployment, annotated, live);
  });
});

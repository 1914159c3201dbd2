/** managedFields as clients send them, and more updaters than are kept: word for word as kube-apiserver stores them. */

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { schemaOf } from '../builtin/schemas.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { managedFieldsAfterScale, managedFieldsOfScale, mergeTypeOfBuiltin, updateManagedFields } from './index.ts';
import { configMap, deployment } from './random-kinds.ts';

let server: RealServer;

before(async () => {
  server = await startRealServer();
});
after(() => server[Symbol.asyncDispose]());

async function send(
  method: string,
  path: string,
  body: JsonObject,
  contentType = 'application/json',
): Promise<KubeObject> {
  const answer = await server.request(method, path, { body: JSON.stringify(body), contentType });
  assert.ok(answer.status < 300, answer.body.toString());
  return JSON.parse(answer.body.toString()) as KubeObject;
}

const mergePatch = 'application/merge-patch+json';
const times = ({ metadata }: KubeObject): string[] => (metadata.managedFields ?? []).flatMap(({ time }) => time ?? []);

/** Ours, as if it were the moment in which the server made theirs. */
function owned(live: KubeObject | undefined, theirs: KubeObject, sent: unknown, manager: string): KubeObject {
  const object = structuredClone(theirs);
  delete object.metadata.managedFields;
  if (sent !== undefined) object.metadata.managedFields = structuredClone(sent) as never;
  const type = mergeTypeOfBuiltin(schemaOf(theirs.apiVersion, theirs.kind)!);
  const now = times(theirs).toSorted().at(-1) ?? '';
  const convert = (): undefined => undefined;
  const options = { type, manager, apiVersion: theirs.apiVersion, subresource: '', now, resetFields: [], convert };
  updateManagedFields({ ...options, live, object });
  return object;
}

test('the oldest updaters become one when there are more than ten', async () => {
  let live = await send('POST', `${configMap.path}?fieldManager=first`, {
    metadata: { name: 'many' },
    data: { first: '1' },
  });
  for (let i = 0; i < 16; i++) {
    // Not in the order of their names.
    const manager = `m${(i * 7) % 16}`;
    const body = { data: { [`k${i}`]: '1' } };
    const theirs = await send('PATCH', `${configMap.path}/many?fieldManager=${manager}`, body, mergePatch);
    const ours = owned(live, theirs, live.metadata.managedFields, manager);
    assert.deepEqual(ours.metadata.managedFields, theirs.metadata.managedFields, `after ${i + 2} managers`);
    live = theirs;
  }
});

const entry = (fieldsV1: JsonObject, others: JsonObject = {}): JsonObject => ({
  manager: 'client',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...others,
});

const sentEntries: readonly (readonly [what: string, entries: JsonObject[]])[] = [
  ['none', []],
  ['an empty one', [{}]],
  [
    'fields in another order',
    [entry({ 'f:metadata': { 'f:labels': { 'f:b': {}, 'f:a': {}, '.': {} } }, 'f:data': { 'f:a': {} } })],
  ],
  ['a lone dot', [entry({ 'f:data': { '.': {} }, '.': {} })]],
  ['elements of unknown kinds', [entry({ 'x:y': {}, 'f:data': { 'z:1': {}, 'f:a': {} } })]],
  [
    'elements of every kind',
    [
      entry({
        'f:x': {
          'i:10': {},
          'i:2': {},
          'v:"b"': {},
          'v:"a"': {},
          'v:1': {},
          'v:10': {},
          'v:2': {},
          'v:true': {},
          'k:{"b":1, "a":"x"}': {},
          'k:{"a":"w"}': {},
        },
      }),
    ],
  ],
  [
    'escapes',
    [entry({ 'f:a<b&c': {}, 'k:{"n":"<&>"}': {}, 'v:"é\\u00e9"': {}, 'f:\ud83d\ude00': {}, 'f:\uffee': {} })],
  ],
  ['no fields', [entry({})]],
  ['another version', [entry({ 'f:data': { 'f:a': {} } }, { apiVersion: 'v2' })]],
  ['two of one manager', [entry({ 'f:data': { 'f:a': {} } }), entry({ 'f:data': { 'f:b': {} } })]],
  ['an applier', [entry({ 'f:data': { 'f:a': {} } }, { operation: 'Apply' }), entry({ 'f:data': { 'f:b': {} } })]],
  ['a subresource', [entry({ 'f:data': { 'f:a': {} } }, { subresource: 'status' })]],
  ['malformed elements', [entry({ 'k:{': {} })]],
  ['elements without a colon', [entry({ abc: {} })]],
  [
    'parts of what is atomic',
    [entry({ 'f:immutable': { 'f:x': {} }, 'f:metadata': { 'f:finalizers': { 'v:"x"': {} } } })],
  ],
  ['no fieldsType', [entry({ 'f:data': { 'f:a': {} } }, { fieldsType: '' })]],
];

suite('managedFields that clients send are stored as by kube-apiserver', () => {
  for (const [index, [what, entries]] of sentEntries.entries()) {
    test(what, async () => {
      const name = `sent-${index}`;
      const live = await send('POST', `${configMap.path}?fieldManager=first`, {
        metadata: { name },
        data: { a: '1', b: '2' },
      });
      const body = structuredClone(live) as unknown as { metadata: JsonObject; data: JsonObject } & JsonObject;
      body.metadata['managedFields'] = entries;
      body.data['c'] = '3';
      const answer = await server.request('PUT', `${configMap.path}/${name}?fieldManager=me`, {
        body: JSON.stringify(body),
      });
      const theirs = JSON.parse(answer.body.toString()) as KubeObject;
      assert.equal(answer.status, 200, answer.body.toString());
      const ours = owned(live, theirs, entries, 'me');
      assert.equal(JSON.stringify(ours.metadata.managedFields), JSON.stringify(theirs.metadata.managedFields));
    });
  }
});

test('writing a scale moves the ownership of replicas', async () => {
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const body = { metadata: { name: 'scaled' }, spec: { replicas: 1, selector: { matchLabels: labels }, template } };
  let live = await send('POST', `${deployment.path}?fieldManager=first`, body);
  const path = `${deployment.path}/scaled`;
  const paths = new Map([['apps/v1', 'spec.replicas']]);
  for (const replicas of [3, 3, 4]) {
    await send('PATCH', `${path}/scale?fieldManager=scaler`, { spec: { replicas } }, mergePatch);
    const theirs = JSON.parse((await server.request('GET', path)).body.toString()) as KubeObject;
    const scale = (count: unknown): KubeObject => ({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'scaled', uid: 'u' },
      spec: { replicas: count },
    });
    const before = scale((live['spec'] as JsonObject)['replicas']);
    const entries = managedFieldsOfScale(live.metadata.managedFields, paths);
    if (entries) before.metadata.managedFields = entries;
    const after = scale(replicas);
    const type = mergeTypeOfBuiltin(schemaOf('autoscaling/v1', 'Scale')!);
    const options = {
      type,
      manager: 'scaler',
      apiVersion: 'autoscaling/v1',
      subresource: 'scale',
      now: 'now',
      resetFields: [],
    };
    updateManagedFields({ ...options, live: before, object: after });
    const ours = managedFieldsAfterScale({
      parent: live.metadata.managedFields,
      scale: after.metadata.managedFields,
      apiVersion: 'apps/v1',
      paths,
    });
    assert.deepEqual(ours, theirs.metadata.managedFields);
    live = theirs;
  }
});

/**
 * Bodies and answers that multiply, or that take long in one piece. Each is refused or bounded, and no slice of synchronous
 * work for one request is longer than 50 ms: that is how long a neighbour may wait.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { startInProcess } from '../../packages/server/src/testing/in-process.ts';
import type {
  InProcessAnswer,
  InProcessRequest,
  InProcessServer,
} from '../../packages/server/src/testing/in-process.ts';
import { bestSliceOf } from './testing/slices.ts';

const sliceMsMax = 50;

// Attacks look into answers of every kind.
// eslint-disable-next-line typescript/no-explicit-any
type Data = any;

let server: InProcessServer;
before(async () => {
  server = await startInProcess();
});
after(() => server[Symbol.asyncDispose]());

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const namespaced = '/apis/example.com/v1/namespaces/default';
const configMaps = '/api/v1/namespaces/default/configmaps';
const dryRun = '?dryRun=All';

function definition(plural: string, spec: object, version: object = {}): Data {
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', ...spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: kindOf(plural) },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
    },
  };
}

const kindOf = (plural: string): string => plural[0]!.toUpperCase() + plural.slice(1, -1);
const custom = (plural: string, name: string, spec: object): object => ({
  apiVersion: 'example.com/v1',
  kind: kindOf(plural),
  metadata: { name },
  spec,
});

const request = (method: string, path: string, body?: unknown, sent: InProcessRequest = {}): Promise<InProcessAnswer> =>
  server.request(method, path, { ...sent, ...(body === undefined ? {} : { body: bytesOf(body) }) });

const bytesOf = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);

async function expect(
  status: number,
  method: string,
  path: string,
  body?: unknown,
  sent?: InProcessRequest,
): Promise<Data> {
  const answer = await request(method, path, body, sent);
  assert.equal(answer.status, status, `${method} ${path}: ${answer.body.toString().slice(0, 500)}`);
  return JSON.parse(answer.body.toString());
}

/** The answer to the best of three tries, none of whose slices may be longer than the limit. */
async function attack(t: TestContext, work: () => Promise<InProcessAnswer>): Promise<InProcessAnswer> {
  const { result, longestMs } = await bestSliceOf(3, work);
  t.diagnostic(`${result.status}, longest slice ${longestMs.toFixed(1)} ms`);
  assert.ok(longestMs < sliceMsMax, `a slice took ${longestMs.toFixed(1)} ms of CPU`);
  return result;
}

describe('defaults', () => {
  /** Lists of `width` empty objects, each the default of the one above. */
  const multiplying = (width: number, levels: number): object => ({
    type: 'array',
    items: { type: 'object', ...(levels === 0 ? {} : { properties: { a: multiplying(width, levels - 1) } }) },
    default: Array.from({ length: width }, () => ({})),
  });

  test('a definition whose defaults multiply is refused', async (t) => {
    const body = definition('bombs', { properties: { a: multiplying(100, 4) } });
    const { status, body: text } = await attack(t, () => request('POST', definitions, body));
    assert.equal(status, 422);
    assert.match(text.toString(), /default: Forbidden: must not add more than 50000 values/);
    assert.equal((await request('GET', `${definitions}/bombs.example.com`)).status, 404);
  });

  test('an object in which allowed defaults add up beyond the budget is refused', async (t) => {
    const list = { type: 'array', items: { type: 'object', properties: { a: multiplying(100, 1) } } };
    await expect(201, 'POST', definitions, definition('sums', { properties: { list } }));
    const items = Array.from({ length: 1_000 }, () => ({}));
    const body = custom('sums', 'sum', { list: items });
    for (const query of ['', dryRun]) {
      const { status, body: text } = await attack(t, () => request('POST', `${namespaced}/sums${query}`, body));
      assert.equal(status, 422);
      assert.match(text.toString(), /defaults of the schema add more than 50000 values/);
    }
    assert.equal((await request('GET', `${namespaced}/sums/sum`)).status, 404);
  });

  test('stored objects whose later defaults exceed the budget are listed, read and deleted', async (t) => {
    const list = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const before = definition('laters', { properties: { list } });
    await expect(201, 'POST', definitions, before);
    const items = Array.from({ length: 1_000 }, () => ({}));
    for (const name of ['one', 'two'])
      await expect(201, 'POST', `${namespaced}/laters`, custom('laters', name, { list: items }));
    const held = {
      ...custom('laters', 'held', { list: items }),
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    };
    await expect(201, 'POST', `${namespaced}/laters`, held);
    await expect(201, 'POST', `${namespaced}/laters`, custom('laters', 'small', { list: [{}] }));
    const withDefault = { type: 'array', items: { type: 'object', properties: { a: multiplying(100, 1) } } };
    const live = await expect(200, 'GET', `${definitions}/laters.example.com`);
    live.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.list = withDefault;
    await expect(200, 'PUT', `${definitions}/laters.example.com`, live);
    const listed = await attack(t, () => request('GET', `${namespaced}/laters`));
    const { items: found } = JSON.parse(listed.body.toString());
    const lengths = found.map(({ metadata, spec }: Data) => [metadata.name, spec.list[0].a?.length]);
    assert.deepEqual(Object.fromEntries(lengths), { held: undefined, one: undefined, small: 100, two: undefined });
    for (const accept of ['PartialObjectMetadataList', 'Table']) {
      const sent = { accept: `application/json;as=${accept};v=v1;g=meta.k8s.io` };
      assert.equal((await attack(t, () => request('GET', `${namespaced}/laters`, undefined, sent))).status, 200);
    }
    assert.equal((await attack(t, () => request('GET', `${namespaced}/laters/one`))).status, 200);
    await expect(200, 'DELETE', `${namespaced}/laters/one`);
    await expect(200, 'DELETE', `${namespaced}/laters/held`);
    const contentType = 'application/merge-patch+json';
    await expect(200, 'PATCH', `${namespaced}/laters/held`, { metadata: { finalizers: null } }, { contentType });
    await expect(200, 'DELETE', `${namespaced}/laters`);
    assert.deepEqual((await expect(200, 'GET', `${namespaced}/laters`)).items, []);
  });
});

describe('YAML answers', () => {
  const accept = 'application/yaml';

  test('an object nested a thousand deep is written in slices, or refused with 406', async (t) => {
    await expect(201, 'POST', definitions, definition('deeps', { 'x-kubernetes-preserve-unknown-fields': true }));
    let chain: Data = 1;
    for (let depth = 0; depth < 900; depth++) chain = { a: chain };
    const chains = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, chain]));
    await expect(201, 'POST', `${namespaced}/deeps`, custom('deeps', 'some', chains(5)));
    await expect(201, 'POST', `${namespaced}/deeps`, custom('deeps', 'many', chains(30)));
    assert.equal(
      (await attack(t, () => request('GET', `${namespaced}/deeps/some`, undefined, { accept }))).status,
      200,
    );
    const refused = await attack(t, () => request('GET', `${namespaced}/deeps/many`, undefined, { accept }));
    assert.equal(refused.status, 406);
    assert.match(refused.body.toString(), /accept application\/json instead/);
    await expect(200, 'DELETE', `${namespaced}/deeps`);
  });

  test('deep managedFields are written in slices', async (t) => {
    let fieldsV1: Data = {};
    for (let depth = 0; depth < 450; depth++) fieldsV1 = { 'f:a': fieldsV1 };
    const managedFields = Array.from({ length: 20 }, (_, at) => ({
      manager: `m${at}`,
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1,
    }));
    await expect(201, 'POST', configMaps, { metadata: { name: 'managed', managedFields } });
    assert.equal((await attack(t, () => request('GET', `${configMaps}/managed`, undefined, { accept }))).status, 200);
  });
});

describe('long lists', () => {
  before(async () => {
    const data = { text: 'line of a text\n'.repeat(60_000) };
    for (let at = 0; at < 20; at++) {
      await expect(201, 'POST', configMaps, { metadata: { name: `large-${at}`, labels: { size: 'large' } }, data });
    }
    for (let at = 0; at < 1_000; at++) {
      await expect(201, 'POST', configMaps, { metadata: { name: `small-${at}` }, data: { a: 'b' } });
    }
  });
  after(() => expect(200, 'DELETE', configMaps));

  const table = 'as=Table;v=v1;g=meta.k8s.io';
  for (const [what, query, accept] of [
    ['JSON', '', 'application/json'],
    ['YAML', '', 'application/yaml'],
    ['protobuf', '', 'application/vnd.kubernetes.protobuf'],
    ['a Table', '', `application/json;${table}`],
    ['a Table of whole objects', '?includeObject=Object', `application/json;${table}`],
    ['metadata', '', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'],
    ['metadata in protobuf', '', 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'],
    ['JSON by a label', '?labelSelector=size!=large', 'application/json'],
    ['JSON by a field', '?fieldSelector=metadata.name!=small-1', 'application/json'],
    ['indented JSON', '?pretty=true', 'application/json'],
  ] as const) {
    test(`a list of 20 MB as ${what} is made in slices`, async (t) => {
      assert.equal((await attack(t, () => request('GET', `${configMaps}${query}`, undefined, { accept }))).status, 200);
    });
  }
});

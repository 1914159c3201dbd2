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
/** CPU time depends on the machine and on the garbage collections of earlier tests: a slower machine must not fail this suite. */
const sliceMsFailure = 75;
/**
 * Where other work keeps the cores busy, a collection of garbage takes several times the CPU of this thread, because its helpers
 * do not run. Therefore an attack fails only when none of so many tries stays below the limit for a failure, and prints its longest slice.
 */
const tries = 12;

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

/** Returns the answer to the first try whose slices are all shorter than the limit. */
async function attack(t: TestContext, work: () => Promise<InProcessAnswer>): Promise<InProcessAnswer> {
  const { result, longestMs } = await bestSliceOf(tries, sliceMsMax, work);
  t.diagnostic(`${result.status}, longest slice ${longestMs.toFixed(1)} ms`);
  assert.ok(longestMs < sliceMsFailure, `a slice took ${longestMs.toFixed(1)} ms of CPU`);
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

describe('schemas', () => {
  test('patterns that are slow for long texts take no long slice', async (t) => {
    const items = { type: 'string', pattern: '^a{0,900}a{0,900}$' };
    await expect(201, 'POST', definitions, definition('patterns', { properties: { list: { type: 'array', items } } }));
    const list = Array.from({ length: 6 }, () => `${'a'.repeat(5_226)}!`);
    const body = custom('patterns', 'p', { list });
    const { status, body: text } = await attack(t, () => request('POST', `${namespaced}/patterns${dryRun}`, body));
    assert.equal(status, 422, text.toString().slice(0, 300));
    assert.match(text.toString(), /(should match|cannot be matched against) '\^a\{0,900\}a\{0,900\}\$'/);
  });

  test('alternatives for each of many items take no long slice', async (t) => {
    const names = Array.from({ length: 200 }, (_, at) => `p${at}`);
    const items = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      anyOf: names.map((name) => ({ required: [name], properties: { [name]: { minLength: 3 } } })),
    };
    await expect(201, 'POST', definitions, definition('choices', { properties: { list: { type: 'array', items } } }));
    const list = Array.from({ length: 5_000 }, () => ({ p199: 'abc' }));
    const body = custom('choices', 'c', { list });
    const { status, body: text } = await attack(t, () => request('POST', `${namespaced}/choices${dryRun}`, body));
    assert.equal(status, 201, text.toString().slice(0, 300));
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

describe('bodies', () => {
  const keys = (count: number, value = 'v'): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, value]));
  const items = (count: number, value = 'v'): object[] =>
    Array.from({ length: count }, (_, at) => ({ name: `n${at}`, value }));
  const json = 'application/json';
  const yaml = 'application/yaml';
  const apply = 'application/apply-patch+yaml';
  const merge = 'application/merge-patch+json';
  const configMap = (data: object): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'heavy' },
    data,
  });
  const listMap = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, value: { type: 'string' } } },
  };
  const applied = `${configMaps}/heavy?fieldManager=tests`;
  const yamlOf = (data: object): string =>
    `metadata: {name: heavy}\ndata:\n${Object.keys(data)
      .map((key) => `  ${key}: "v"\n`)
      .join('')}`;

  before(async () => {
    await expect(201, 'POST', definitions, definition('anys', { 'x-kubernetes-preserve-unknown-fields': true }));
    await expect(201, 'POST', definitions, definition('maps', { properties: { list: listMap } }));
  });

  test('more values than a request may have are refused with 413, and nothing is stored', async (t) => {
    const bodies: [method: string, path: string, body: unknown, contentType: string][] = [
      ['POST', configMaps, configMap(keys(200_000)), json],
      ['POST', configMaps, `{"metadata":{"name":"heavy"},"data":{${'"a":"b",'.repeat(250_000)}"a":"b"}}`, json],
      ['POST', configMaps, yamlOf(keys(60_000)), yaml],
      ['PATCH', applied, configMap(keys(150_000)), apply],
      ['PATCH', applied, yamlOf(keys(60_000)), apply],
      ['POST', `${namespaced}/anys`, custom('anys', 'heavy', { list: Array(1_000_000).fill(1) }), json],
      ['POST', `${namespaced}/anys`, custom('anys', 'heavy', { list: items(40_000) }), json],
      ['PATCH', `${configMaps}/trinket`, { data: keys(150_000) }, merge],
    ];
    for (const [method, path, body, contentType] of bodies) {
      const bytes = bytesOf(body);
      const { status, body: text } = await attack(t, () => request(method, path, bytes, { contentType }));
      assert.equal(status, 413, `${method} ${path} ${contentType}: ${text.toString().slice(0, 300)}`);
      assert.match(text.toString(), /Request entity too large: the body has too many values/);
    }
    assert.equal((await request('GET', `${configMaps}/heavy`)).status, 404);
    assert.equal((await request('GET', `${namespaced}/anys/heavy`)).status, 404);
  });

  for (const [what, path, body, contentType, expected] of [
    ['a map of 24,000 keys', configMaps, configMap(keys(24_000)), json, 201],
    ['a map of 24,000 keys in YAML', configMaps, yamlOf(keys(24_000)), yaml, 201],
    ['a list of 19,000 items', `${namespaced}/anys`, custom('anys', 'a', { list: items(19_000) }), json, 201],
    ['a list map of 19,000 items', `${namespaced}/maps`, custom('maps', 'a', { list: items(19_000) }), json, 201],
    [
      'objects with keys of their own',
      `${namespaced}/anys`,
      custom('anys', 'a', { list: items(15_000).map((_, at) => ({ [`a${at}`]: 1, [`b${at}`]: 1 })) }),
      json,
      201,
    ],
    ['3 MB of YAML separators', configMaps, '---\n'.repeat(750_000), yaml, 422],
    [
      '3 MB of escaped surrogates',
      configMaps,
      `{"metadata":{"name":"e"},"data":{"a":"${'\\ud83d\\ude00'.repeat(250_000)}"}}`,
      json,
      201,
    ],
    [
      '3 MB of lone surrogates',
      configMaps,
      `{"metadata":{"name":"e"},"data":{"a":"${'\\ud83d'.repeat(500_000)}"}}`,
      json,
      422,
    ],
    [
      'a repeated key and 3 MB of escaped quotes',
      configMaps,
      `{"kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"e"},"data":{"a":"${'\\"'.repeat(1_400_000)}"}}`,
      json,
      422,
    ],
    [
      '3 MB of escaped quotes',
      configMaps,
      `{"metadata":{"name":"e"},"data":{"a":"${'\\"'.repeat(1_400_000)}"}}`,
      json,
      422,
    ],
    [
      '20,000 repeated keys',
      configMaps,
      `{"metadata":{"name":"e"},"data":{${'"a":"b",'.repeat(20_000)}"a":"b"}}`,
      json,
      201,
    ],
    [
      'thousands of invalid labels',
      configMaps,
      { metadata: { name: 'l', labels: Object.fromEntries(Object.keys(keys(20_000)).map((key) => [`/${key}`, '!'])) } },
      json,
      422,
    ],
    ['a long invalid label', configMaps, { metadata: { name: 'l', labels: { a: '"\n'.repeat(700_000) } } }, json, 422],
  ] as const) {
    test(`${what}: takes no long slice`, async (t) => {
      const bytes = bytesOf(body);
      const { status, body: text } = await attack(t, () => request('POST', `${path}${dryRun}`, bytes, { contentType }));
      assert.equal(status, expected, text.toString().slice(0, 300));
      assert.ok(text.length < 3_000_000 || status === 201, `an answer of ${text.length} bytes`);
    });
  }

  test('long lists in built-in kinds take no long slice', async (t) => {
    const container = (more: object): object => ({ name: 'c', image: 'i', ...more });
    const long: [path: string, body: object, status: number][] = [
      [
        '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
        {
          metadata: { name: 'long' },
          spec: {
            podSelector: {},
            ingress: Array.from({ length: 8_000 }, (_, at) => ({
              from: [{ ipBlock: { cidr: `10.${at >> 8}.${at & 255}.0/24` } }],
            })),
          },
        },
        201,
      ],
      [
        '/api/v1/namespaces/default/pods',
        { metadata: { name: 'long' }, spec: { containers: [container({ resources: { claims: items(8_000) } })] } },
        422,
      ],
      [
        '/api/v1/namespaces/default/pods',
        {
          metadata: { name: 'long' },
          spec: {
            containers: [container({})],
            initContainers: Array.from({ length: 6_000 }, (_, at) => container({ name: `i${at}` })),
          },
        },
        201,
      ],
    ];
    for (const [path, body, expected] of long) {
      const bytes = bytesOf(body);
      const { status, body: text } = await attack(t, () => request('POST', `${path}${dryRun}`, bytes));
      assert.equal(status, expected, text.toString().slice(0, 300));
    }
  });

  test('server-side apply of large associative lists, again and in another order: takes no long slice', async (t) => {
    const path = `${namespaced}/maps/applied?fieldManager=tests`;
    for (const list of [
      items(11_000),
      items(11_000, 'w').toReversed(),
      items(11_000).filter((_, at) => at % 2 === 0),
    ]) {
      const body = bytesOf(custom('maps', 'applied', { list }));
      const { status } = await attack(t, () => request('PATCH', path, body, { contentType: apply }));
      assert.ok(status === 200 || status === 201);
    }
    await expect(200, 'DELETE', `${namespaced}/maps/applied`);
  });

  test('server-side apply of a large set, reversed and replaced: takes no long slice', async (t) => {
    const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
    await expect(201, 'POST', definitions, definition('sets', { properties: { set } }));
    const texts = (name: string): string[] => Array.from({ length: 30_000 }, (_, at) => `${name}${at}`);
    const path = `${namespaced}/sets/applied?fieldManager=tests`;
    for (const items of [texts('a'), texts('a').toReversed(), texts('b'), texts('b').slice(0, 10)]) {
      const body = bytesOf(custom('sets', 'applied', { set: items }));
      const { status, body: text } = await attack(t, () => request('PATCH', path, body, { contentType: apply }));
      assert.ok(status === 200 || status === 201, text.toString().slice(0, 300));
    }
  });

  test('an object at the limit can be sent back as it was read', async (t) => {
    await expect(201, 'POST', `${namespaced}/maps`, custom('maps', 'back', { list: items(11_000) }));
    const object = await expect(200, 'GET', `${namespaced}/maps/back`);
    delete object.metadata.resourceVersion;
    object.spec.list[0].value = 'changed';
    const body = bytesOf({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } });
    const { status, body: text } = await attack(t, async () => {
      const { metadata } = JSON.parse((await request('GET', `${namespaced}/maps/back`)).body.toString());
      const sent = body
        .toString()
        .replace('"metadata":{', `"metadata":{"resourceVersion":"${metadata.resourceVersion}",`);
      return request('PUT', `${namespaced}/maps/back`, sent);
    });
    assert.equal(status, 200, text.toString().slice(0, 300));
    await expect(200, 'DELETE', `${namespaced}/maps/back`);
  });

  test('patches cannot make an object that a body could not', async (t) => {
    await expect(201, 'POST', `${namespaced}/anys`, custom('anys', 'grown', keys(20_000)));
    const more = bytesOf({ spec: Object.fromEntries(Object.keys(keys(20_000)).map((key) => [`more-${key}`, 'v'])) });
    const { status } = await attack(t, () =>
      request('PATCH', `${namespaced}/anys/grown`, more, { contentType: merge }),
    );
    assert.equal(status, 413);
    const { spec } = await expect(200, 'GET', `${namespaced}/anys/grown`);
    assert.equal(Object.keys(spec).length, 20_000);
    await expect(200, 'DELETE', `${namespaced}/anys/grown`);
  });

  test('JSON patches of 10,000 operations take no long slice', async (t) => {
    const list = Array.from({ length: 2_000 }, (_, at) => at);
    await expect(201, 'POST', `${namespaced}/anys`, custom('anys', 'patched', { list, keys: keys(10_000) }));
    const operations: ((at: number) => object)[] = [
      () => ({ op: 'add', path: '/spec/list/0', value: 1 }),
      (at) => ({ op: at % 2 === 0 ? 'add' : 'remove', path: '/spec/list/0', value: 1 }),
      (at) => ({ op: 'replace', path: `/spec/keys/key${at}`, value: 'w' }),
      (at) => ({ op: 'move', from: at % 2 === 0 ? '/spec' : '/other', path: at % 2 === 0 ? '/other' : '/spec' }),
    ];
    for (const operation of operations) {
      const body = bytesOf(Array.from({ length: 10_000 }, (_, at) => operation(at)));
      const sent = { contentType: 'application/json-patch+json' };
      const { status } = await attack(t, () => request('PATCH', `${namespaced}/anys/patched${dryRun}`, body, sent));
      assert.equal(status, 200, JSON.stringify(operation(1)));
    }
    await expect(200, 'DELETE', `${namespaced}/anys/patched`);
  });

  test('large objects as people have them are accepted', async (t) => {
    const property = (depth: number): object =>
      depth === 0
        ? {
            type: 'string',
            description: 'A field of a type with a description that is as long as most of them are, and no longer.',
          }
        : {
            type: 'object',
            description:
              'An object with fields, each of which has a description of some length that says what it is for.',
            properties: Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`field${at}`, property(depth - 1)])),
          };
    const properties = Object.fromEntries([...'abcdefghijklmn'].map((name) => [name, property(3)]));
    const large: [path: string, body: object, bytesMin: number][] = [
      [definitions, definition('prometheuses', { properties }), 1_000_000],
      [configMaps, configMap({ text: 'line of a text\n'.repeat(69_000) }), 1_000_000],
      [
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
        {
          metadata: { name: 'slice' },
          addressType: 'IPv4',
          endpoints: Array.from({ length: 1_000 }, (_, at) => ({
            addresses: [`10.0.${at >> 8}.${at & 255}`],
            conditions: { ready: true, serving: true, terminating: false },
            nodeName: `node-${at}`,
            targetRef: { kind: 'Pod', name: `pod-${at}`, namespace: 'default', uid: `uid-${at}` },
          })),
        },
        100_000,
      ],
      [
        `${namespaced}/anys`,
        custom('anys', 'values', {
          list: items(18_000).map((item, at) => ({ ...item, value: `a small value ${at} of some length` })),
        }),
        1_000_000,
      ],
    ];
    for (const [path, body, bytesMin] of large) {
      const bytes = bytesOf(body);
      assert.ok(bytes.length > bytesMin, `${bytes.length} bytes`);
      const { status, body: text } = await attack(t, () => request('POST', `${path}${dryRun}`, bytes));
      assert.equal(status, 201, text.toString().slice(0, 300));
    }
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

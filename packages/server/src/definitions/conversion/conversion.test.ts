import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outbound } from '../../outbound/index.ts';
import { definition, definitions, TestServer, version } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { startWebhook } from '../../testing/webhook-server.ts';
import type { WebhookHandler, WebhookServer } from '../../testing/webhook-server.ts';

const path = (of: string): string => `/apis/example.com/${of}/namespaces/default/widgets`;

/** v1 has `size`; v2 has `length` for the same value; `extra` of v2 does not exist in v1. */
const converted = (object: Data, apiVersion: string): Data => {
  const { size, length, extra: _, ...rest } = object.spec ?? {};
  const value = size ?? length;
  const spec = { ...rest, ...(value === undefined ? {} : { [apiVersion.endsWith('v1') ? 'size' : 'length']: value }) };
  return { ...object, apiVersion, spec };
};

const answered = ({ apiVersion, kind, request }: Data, response: object): Data => ({
  apiVersion,
  kind,
  response: { uid: request.uid, result: { status: 'Success' }, ...response },
});

const converts: WebhookHandler = (review) =>
  answered(review, {
    convertedObjects: review.request.objects.map((one: Data) => converted(one, review.request.desiredAPIVersion)),
  });

class Fixture implements AsyncDisposable {
  readonly server: TestServer;
  readonly hook: WebhookServer;
  readonly #outbound: Outbound;

  private constructor(server: TestServer, hook: WebhookServer, outbound: Outbound) {
    this.server = server;
    this.hook = hook;
    this.#outbound = outbound;
  }

  static async start(handler: WebhookHandler, reviewVersions: readonly string[] = ['v1']): Promise<Fixture> {
    const outbound = new Outbound({ allow: ['127.0.0.0/8'] });
    const hook = await startWebhook(handler);
    const server = await TestServer.start({ outbound });
    const object = definition({
      versions: [
        version('v1', { size: { type: 'integer' } }),
        version('v2', { length: { type: 'integer' }, extra: { type: 'string' } }, { storage: false }),
      ],
    });
    object.spec.conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: hook.clientConfig('/convert'), conversionReviewVersions: reviewVersions },
    };
    await server.create(definitions, object);
    return new Fixture(server, hook, outbound);
  }

  create(of: string, name: string, spec: object, metadata: object = {}): Promise<Data> {
    const body = { apiVersion: `example.com/${of}`, kind: 'Widget', metadata: { name, ...metadata }, spec };
    return this.server.create(path(of), body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    this.#outbound.close();
    await this.hook[Symbol.asyncDispose]();
  }
}

test('objects are read and written in every version, and stored in one', async () => {
  await using one = await Fixture.start(converts);
  const { server } = one;
  await one.create('v1', 'a', { size: 1 });
  assert.equal(one.hook.received.length, 0, 'the stored version needs no conversion');
  const made = await one.create('v2', 'b', { length: 2, extra: 'here' });
  assert.deepEqual(
    [made.apiVersion, made.spec],
    ['example.com/v2', { length: 2 }],
    'what is answered is what was stored',
  );
  assert.deepEqual((await server.get(`${path('v1')}/b`)).spec, { size: 2 });
  assert.deepEqual((await server.get(`${path('v2')}/a`)).spec, { length: 1 });
  const patched = await server.merge(`${path('v2')}/a`, { spec: { length: 7 } });
  assert.deepEqual([patched.spec, patched.apiVersion], [{ length: 7 }, 'example.com/v2']);
  assert.deepEqual((await server.get(`${path('v1')}/a`)).spec, { size: 7 });
  const { entries } = await server.store.range({
    start: '/registry/clusters/root/example.com/',
    end: '/registry/clusters/root/example.com0',
  });
  assert.deepEqual(
    entries.map(({ value }) => JSON.parse(Buffer.from(value).toString()).apiVersion),
    ['example.com/v1', 'example.com/v1'],
  );
  const removed = await server.remove(`${path('v2')}/a`);
  assert.equal(removed.status, 'Success');
});

test('a list is one question', async () => {
  await using one = await Fixture.start(converts);
  for (const name of ['a', 'b', 'c']) await one.create('v1', name, { size: 1 });
  const { items } = await one.server.get(path('v2'));
  assert.deepEqual(
    items.map(({ spec }: Data) => spec),
    [{ length: 1 }, { length: 1 }, { length: 1 }],
  );
  assert.equal(one.hook.received.length, 1);
  const { request } = one.hook.received[0]!.review;
  assert.equal(request.desiredAPIVersion, 'example.com/v2');
  assert.deepEqual(
    request.objects.map(({ metadata }: Data) => metadata.name),
    ['a', 'b', 'c'],
  );
  const table = await one.server.expect(200, 'GET', path('v2'), {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  assert.equal(table.rows.length, 3);
});

test('watches of a version see its objects, and one question serves all of them', async () => {
  await using one = await Fixture.start(converts);
  const { server } = one;
  await one.create('v1', 'a', { size: 1 });
  const watches = await Promise.all([0, 1, 2].map(() => server.watch(`${path('v2')}?watch=1&resourceVersion=0`)));
  const before = one.hook.received.length;
  for (const watch of watches) assert.deepEqual((await watch.events(1))[0]!.object.spec, { length: 1 });
  await server.merge(`${path('v1')}/a`, { spec: { size: 2 } });
  for (const watch of watches) {
    const [event] = await watch.events(1);
    assert.deepEqual(
      [event!.type, event!.object.spec, event!.object.apiVersion],
      ['MODIFIED', { length: 2 }, 'example.com/v2'],
    );
  }
  assert.equal(one.hook.received.length, before + 1);
  await server.remove(`${path('v1')}/a`);
  for (const watch of watches) {
    assert.equal((await watch.events(1))[0]!.type, 'DELETED');
    watch.close();
  }
});

test('of metadata a webhook decides about labels and annotations only', async () => {
  await using one = await Fixture.start((review) =>
    answered(review, {
      convertedObjects: review.request.objects.map((object: Data) => ({
        ...converted(object, review.request.desiredAPIVersion),
        metadata: {
          name: object.metadata.name,
          namespace: object.metadata.namespace,
          uid: object.metadata.uid,
          finalizers: ['evil.example.com/x'],
          labels: { by: 'hook' },
        },
      })),
    }),
  );
  const { metadata } = await one.create('v1', 'a', {}, { annotations: { a: 'b' }, labels: { own: '1' } });
  const read = await one.server.get(`${path('v2')}/a`);
  const { labels: _, annotations: __, ...rest } = metadata;
  assert.deepEqual(read.metadata, { ...rest, labels: { by: 'hook' } });
});

test('a webhook that fails, or makes something else of an object, is a failure of the request', async () => {
  const answers: Record<string, WebhookHandler> = {
    error: (_, response) => void response.writeHead(500).end('oh no'),
    garbage: (_, response) => void response.end('{'),
    refusal: (review) => answered(review, { result: { status: 'Failure', message: 'I will not' } }),
    silent: (review) => answered(review, { result: {} }),
    uid: (review) => ({ ...answered(review, {}), response: { uid: 'x', result: { status: 'Success' } } }),
    none: (review) => answered(review, { convertedObjects: [] }),
    version: (review) => answered(review, { convertedObjects: review.request.objects }),
    renamed: (review) =>
      answered(review, {
        convertedObjects: review.request.objects.map((each: Data) => ({
          ...converted(each, review.request.desiredAPIVersion),
          metadata: { ...each.metadata, name: 'other' },
        })),
      }),
    label: (review) =>
      answered(review, {
        convertedObjects: review.request.objects.map((each: Data) => ({
          ...converted(each, review.request.desiredAPIVersion),
          metadata: { ...each.metadata, labels: { 'not a label': 'x' } },
        })),
      }),
    texts: (review) => answered(review, { convertedObjects: ['a'] }),
  };
  let which = '';
  await using one = await Fixture.start((review, response, at) => answers[which]!(review, response, at));
  await one.create('v1', 'a', { size: 1 });
  const told: Record<string, string> = {};
  for (which of Object.keys(answers)) {
    const { status, data } = await one.server.request('GET', `${path('v2')}/a`);
    assert.equal(status, 500, which);
    told[which] = data.message.replace('conversion webhook for example.com/v1, Kind=Widget ', '');
    assert.equal((await one.server.request('GET', path('v2'))).status, 500, which);
  }
  const { uid, garbage, label, ...others } = told;
  assert.match(uid!, /^failed: expected response.uid="[0-9a-f-]{36}", got "x"$/);
  assert.match(garbage!, /^failed: couldn't get version\/kind; json parse error: /);
  assert.match(label!, /^returned invalid metadata: metadata.labels: Invalid value: "not a label": /);
  assert.deepEqual(others, {
    error: 'failed: an error on the server ("oh no") has prevented the request from succeeding',
    refusal: 'failed: I will not',
    silent: "failed: response.result.status was '', not 'Success'",
    none: 'returned 0 objects, expected 1',
    version:
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
    renamed: 'returned invalid object: must have the same name: a != other',
    texts: 'returned invalid object: it is not an object',
  });
  which = 'error';
  assert.deepEqual((await one.server.get(`${path('v1')}/a`)).spec, { size: 1 }, 'the stored version needs nobody');
  const { metadata } = await one.server.get(`${path('v1')}/a`);
  const watch = await one.server.watch(`${path('v2')}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  await one.server.merge(`${path('v1')}/a`, { spec: { size: 2 } });
  assert.equal((await watch.events(1))[0]!.type, 'ERROR');
  await watch.ended();
});

test('a conversion that hangs costs its own request only', async () => {
  const give = { up: (): void => assert.fail('nobody has asked') };
  await using one = await Fixture.start((review, response, at) => {
    if (review.request.objects[0].metadata.name !== 'slow') return converts(review, response, at);
    give.up = () => response.socket!.destroy();
    return undefined;
  });
  await one.create('v1', 'slow', {});
  await one.create('v1', 'fast', { size: 1 });
  const arrived = one.hook.next();
  const slow = one.server.request('GET', `${path('v2')}/slow`);
  let isOver = false;
  void slow.then(() => (isOver = true));
  await arrived;
  for (let i = 0; i < 10; i++) assert.deepEqual((await one.server.get(`${path('v2')}/fast`)).spec, { length: 1 });
  assert.ok(!isOver);
  give.up();
  assert.equal((await slow).status, 500);
});

test('conversions do not wait for admission webhooks that hold all turns', async () => {
  let admissions = 0;
  const [full, admitted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using one = await Fixture.start(async (review, response, at) => {
    if (at !== '/admit') return converts(review, response, at);
    if (++admissions === 32) full.resolve();
    await admitted.promise;
    return answered(review, { allowed: true });
  });
  await one.create('v1', 'a', { size: 1 });
  await one.server.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'reader' },
    webhooks: [
      {
        name: 'reader.example.com',
        clientConfig: one.hook.clientConfig('/admit'),
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 30,
      },
    ],
  });
  const configMaps = '/api/v1/namespaces/default/configmaps';
  const writes: Promise<{ status: number }>[] = [];
  const write = (): void =>
    void writes.push(one.server.request('POST', configMaps, { body: { metadata: { generateName: 'x-' } } }));
  // The server follows webhook configurations asynchronously: writes are sent until one arrives at the webhook.
  const arrived = one.hook.next();
  let isFollowed = false;
  void arrived.then(() => (isFollowed = true));
  while (!isFollowed) {
    write();
    await Promise.race([arrived, writes.at(-1)]);
  }
  for (let count = 0; count < 32; count++) write();
  await full.promise;
  assert.deepEqual((await one.server.get(`${path('v2')}/a`)).spec, { length: 1 });
  admitted.resolve();
  for (const { status } of await Promise.all(writes)) assert.equal(status, 201);
});

test('older reviews are understood', async () => {
  await using one = await Fixture.start(
    (review) => ({
      kind: 'ConversionReview',
      apiVersion: review.apiVersion,
      response: {
        result: { status: 'Success' },
        convertedObjects: review.request.objects.map((each: Data) => converted(each, review.request.desiredAPIVersion)),
      },
    }),
    ['v1beta1'],
  );
  await one.create('v2', 'a', { length: 3 });
  assert.deepEqual((await one.server.get(`${path('v1')}/a`)).spec, { size: 3 });
  assert.equal(one.hook.received[0]!.review.apiVersion, 'apiextensions.k8s.io/v1beta1');
});

test('a webhook that makes objects many times as large fails', async () => {
  let growth = 0;
  await using one = await Fixture.start((...asked) => {
    const converted = converts(...asked) as Data;
    for (const object of converted.response.convertedObjects) object.metadata.annotations = { x: 'x'.repeat(growth) };
    return converted;
  });
  for (let at = 0; at < 30; at++) await one.create('v1', `w${at}`, { size: 1 });
  growth = 50_000;
  assert.equal((await one.server.get(path('v2'))).items.length, 30);
  growth = 200_000;
  const refused = await one.server.request('GET', path('v2'));
  assert.equal(refused.status, 500);
  assert.match(
    refused.data.message,
    /conversion webhook for example\.com\/v1, Kind=Widget failed: .*larger than \d+ bytes/,
  );
});

test('a large list is several questions, and one answer', async () => {
  await using one = await Fixture.start(converts);
  const annotations = { x: 'x'.repeat(200_000) };
  for (const name of ['a', 'b', 'c', 'd', 'e']) await one.create('v1', name, { size: 1 }, { annotations });
  const { items } = await one.server.get(path('v2'));
  assert.deepEqual(
    items.map(({ metadata, spec }: Data) => [metadata.name, spec.length]),
    ['a', 'b', 'c', 'd', 'e'].map((name) => [name, 1]),
  );
  assert.deepEqual(
    one.hook.received.map(({ review }) => review.request.objects.length),
    [2, 2, 1],
  );
});

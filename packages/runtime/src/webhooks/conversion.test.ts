import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@hangar/api/json';
import { Logger, systemClock } from '@hangar/core';
import type { ApiObject } from '@hangar/client';
import { MetricsRegistry } from '../metrics/registry.ts';
import { conversion } from './conversion.ts';
import type { Spoke } from './conversion.ts';
import { denied } from './denied.ts';
import { posted } from './testing/reviews.ts';
import { WebhookServer } from './webhook-server.ts';

interface Hub extends ApiObject {
  spec: { length: number };
}
interface First extends ApiObject {
  spec: { size: string };
}
interface Second extends ApiObject {
  spec: { millimetres: number };
}

const v1: Spoke<First, Hub> = {
  toHub: ({ metadata, spec }) => ({ metadata, spec: { length: Number(spec.size) } }),
  fromHub: ({ metadata, spec }) => ({ metadata, spec: { size: String(spec.length) } }),
};
const v2: Spoke<Second, Hub> = {
  async toHub(object) {
    const { spec, ...rest } = object;
    return { ...rest, spec: { length: spec.millimetres / 1000 } };
  },
  fromHub({ spec }) {
    return { metadata: { labels: { converted: 'yes' } }, spec: { millimetres: spec.length * 1000 } };
  },
};

const target = { group: 'example.com', kind: 'Widget' };
const widgets = conversion(target, { hub: 'v3', convert: { v1, v2 } });

const metadata = { name: 'a', namespace: 'b', uid: 'c', generation: 4, labels: { l: '1' }, annotations: { n: '2' } };
const object = (version: string, spec: object): JsonObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata,
  spec,
});

const review = (desired: unknown, objects: unknown): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: '1f6e', desiredAPIVersion: desired, objects },
});

interface Converted {
  readonly uid: string;
  readonly convertedObjects: JsonObject[];
  readonly result: { readonly status: string; readonly message?: string; readonly code?: number };
}

async function converted(body: object, server = new WebhookServer().register(widgets)): Promise<Converted> {
  const answer = await server.answer(posted('/convert', body));
  assert.equal(answer.status, 200, answer.body.toString());
  return (JSON.parse(answer.body.toString()) as { response: Converted }).response;
}

test('every version is made of every other, in order, by way of the hub', async () => {
  const all = [object('v1', { size: '2' }), object('v2', { millimetres: 3000 }), object('v3', { length: 4 })];
  const specs = async (version: string): Promise<unknown[]> => {
    const { uid, convertedObjects, result } = await converted(review(`example.com/${version}`, all));
    assert.deepEqual([uid, result], ['1f6e', { status: 'Success' }]);
    assert.ok(
      convertedObjects.every(({ apiVersion, kind }) => apiVersion === `example.com/${version}` && kind === 'Widget'),
    );
    return convertedObjects.map(({ spec }) => spec);
  };
  assert.deepEqual(await specs('v1'), [{ size: '2' }, { size: '3' }, { size: '4' }]);
  assert.deepEqual(await specs('v2'), [{ millimetres: 2000 }, { millimetres: 3000 }, { millimetres: 4000 }]);
  assert.deepEqual(await specs('v3'), [{ length: 2 }, { length: 3 }, { length: 4 }]);
});

test('of the metadata only labels and annotations change', async () => {
  const { convertedObjects } = await converted(review('example.com/v2', [object('v1', { size: '2' })]));
  const { annotations: _, ...rest } = metadata;
  assert.deepEqual(convertedObjects[0]!['metadata'], { ...rest, labels: { converted: 'yes' } });
  const kept = await converted(review('example.com/v1', [object('v3', { length: 2 })]));
  assert.deepEqual(kept.convertedObjects[0]!['metadata'], metadata);
});

test('a conversion that fails fails its review, and says so only where it may', async () => {
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'json', clock: systemClock, write: (line) => lines.push(line) });
  const metrics = new MetricsRegistry();
  const failing = (fail: () => never): WebhookServer =>
    new WebhookServer({ log, metrics }).register(
      conversion(target, { hub: 'v3', convert: { v1: { toHub: fail, fromHub: fail } } }),
    );
  const body = review('example.com/v3', [object('v1', {})]);
  const secret = await converted(
    body,
    failing(() => {
      throw new Error('secret');
    }),
  );
  assert.deepEqual([secret.result.status, secret.result.code, secret.convertedObjects], ['Failure', 500, []]);
  assert.doesNotMatch(secret.result.message!, /secret/);
  assert.match(lines[0]!, /secret/);
  assert.match(metrics.text(), /^controller_runtime_conversion_webhook_panics_total 1$/m);
  const told = await converted(
    body,
    failing(() => {
      throw denied('the size is not a number', { reason: 'Invalid' });
    }),
  );
  assert.deepEqual([told.result.message, told.result.code], ['the size is not a number', 422]);
});

const failures: [name: string, body: object, message: RegExp][] = [
  ['a version that there is not', review('example.com/v9', [object('v1', {})]), /no version v9/],
  ['an object of a version that there is not', review('example.com/v1', [object('v9', {})]), /no version v9/],
  ['another group', review('example.org/v1', [object('v1', {})]), /is not a version of example.com/],
  [
    'another kind',
    review('example.com/v1', [{ ...object('v2', {}), kind: 'Gadget' }]),
    /no conversion is registered for Gadget/,
  ],
  [
    'a name of every object’s prototype',
    review('example.com/constructor', [object('v1', { size: '1' })]),
    /no version/,
  ],
];
for (const [name, body, message] of failures) {
  test(`${name} is a failure with a message`, async () => {
    const { result } = await converted(body);
    assert.equal(result.status, 'Failure');
    assert.match(result.message!, message);
  });
}

test('what is no review is refused', async () => {
  const server = new WebhookServer().register(widgets);
  for (const body of [
    {},
    { ...review('example.com/v1', []), apiVersion: 'apiextensions.k8s.io/v1beta1' },
    { ...review('example.com/v1', []), request: undefined },
    review(7, []),
    review('example.com/v1', null),
    review('example.com/v1', ['x']),
  ]) {
    assert.equal((await server.answer(posted('/convert', body))).status, 400);
  }
});

test('a long list lets others through', async () => {
  const many = Array.from({ length: 5_000 }, () => object('v1', { size: '2' }));
  let turns = 0;
  const count = setInterval(() => turns++, 0);
  const { convertedObjects } = await converted(review('example.com/v3', many));
  clearInterval(count);
  assert.equal(convertedObjects.length, 5_000);
  assert.ok(turns >= 5, `${turns} turns`);
});

test('several kinds are behind one path, and the hub is no spoke', async () => {
  const other = conversion({ group: 'example.com', kind: 'Gadget' }, { hub: 'v3', convert: { v1 } });
  const server = new WebhookServer().register(widgets, other);
  const gadget = { ...object('v1', { size: '5' }), kind: 'Gadget' };
  const { convertedObjects } = await converted(review('example.com/v3', [gadget, object('v1', { size: '6' })]), server);
  assert.deepEqual(
    convertedObjects.map(({ kind, spec }) => [kind, spec]),
    [
      ['Gadget', { length: 5 }],
      ['Widget', { length: 6 }],
    ],
  );
  assert.throws(() => conversion(target, { hub: 'v1', convert: { v1 } }), { code: 'InvalidOptions' });
});

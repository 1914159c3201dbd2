import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { MetricsRegistry } from '../metrics/registry.ts';
import { validating } from './admission.ts';
import type { ValidatingHandlers } from './admission.ts';
import { admissionMaxBytes } from './hook.ts';
import { admissionReview, posted, responseOf, Widget, widget } from './testing/reviews.ts';
import { WebhookServer } from './webhook-server.ts';

const path = '/validate-example-com-v1-widget';
const review = admissionReview('CREATE', { object: widget() });

const serverOf = (handlers: ValidatingHandlers<Widget>, options: ConstructorParameters<typeof WebhookServer>[0] = {}) =>
  new WebhookServer(options).register(validating(Widget, handlers));

const deep = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`;

const refusals: [name: string, request: Parameters<typeof posted>, status: number, message: RegExp][] = [
  ['a path that nobody has', ['/validate', review], 404, /no webhook is registered at \/validate/],
  ['another method', [path, review, { method: 'GET' }], 405, /POST/],
  ['another content type', [path, review, { headers: { 'content-type': 'text/yaml' } }], 415, /application\/json/],
  ['no content type', [path, review, { headers: {} }], 415, /application\/json/],
  ['an empty body', [path, ''], 400, /not JSON/],
  ['half a body', [path, '{"apiVersion":'], 400, /not JSON/],
  ['a body that nests too deeply', [path, deep], 400, /not JSON|deep|nest/],
  ['a list', [path, []], 400, /not a review/],
  ['null', [path, 'null'], 400, /not a review/],
  ['v1beta1', [path, { ...review, apiVersion: 'admission.k8s.io/v1beta1' }], 400, /expected admission.k8s.io\/v1/],
  ['another kind', [path, { ...review, kind: 'ConversionReview' }], 400, /expected admission.k8s.io\/v1/],
  ['no request', [path, { ...review, request: null }], 400, /no request/],
  ['no uid', [path, admissionReview('CREATE', { uid: '' })], 400, /no uid/],
  ['an unknown operation', [path, admissionReview('EXPLODE')], 400, /operation is "EXPLODE"/],
  ['half a kind', [path, admissionReview('CREATE', { kind: { kind: 'Widget' } })], 400, /kind is incomplete/],
  ['a text for an object', [path, admissionReview('CREATE', { object: 'x' })], 400, /must be objects/],
  ['no object', [path, admissionReview('CREATE')], 400, /no object/],
  ['no old object', [path, admissionReview('UPDATE', { object: widget() })], 400, /no oldObject/],
  ['a timeout that is none', [`${path}?timeout=soon`, review], 400, /duration/],
  ['a negative timeout', [`${path}?timeout=-1s`, review], 400, /duration/],
  ['too much', [path, 'x'.repeat(admissionMaxBytes + 1)], 413, /larger than/],
];

for (const [name, request, status, message] of refusals) {
  test(`${name} is refused with ${status} and a message, and reaches no handler`, async () => {
    const server = serverOf({ create: () => assert.fail(), update: () => assert.fail() });
    const answer = await server.answer(posted(...request));
    assert.equal(answer.status, status);
    assert.match(answer.body.toString(), message);
  });
}

test('a content type may say its charset, a query may say more', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const answer = await serverOf({}).answer(posted(`${path}?timeout=10s&more=1`, review, { headers }));
  assert.equal(responseOf(answer).allowed, true);
});

test('a handler that hangs is told that its time is over, and there is an answer a moment before nobody reads it', async () => {
  const clock = virtualClock();
  let told: unknown;
  const server = serverOf(
    {
      create: ({ signal }) =>
        new Promise(() => signal.addEventListener('abort', () => (told = (signal.reason as { code: string }).code))),
    },
    { clock },
  );
  const began = clock.monotonicMs();
  const answer = await clock.run(server.answer(posted(`${path}?timeout=5s`, review)));
  assert.equal(answer.status, 504);
  assert.equal(clock.monotonicMs() - began, 4750);
  assert.equal(told, 'NotServing');
});

test('without a timeout in the query, and with a longer one, it is 30 seconds', async () => {
  for (const target of [path, `${path}?timeout=10m`]) {
    const clock = virtualClock();
    const server = serverOf({ create: () => new Promise(() => {}) }, { clock });
    const began = clock.monotonicMs();
    assert.equal((await clock.run(server.answer(posted(target, review)))).status, 504);
    assert.equal(clock.monotonicMs() - began, 30_000);
  }
});

test('a handler that fails after its time harms nobody', async () => {
  const clock = virtualClock();
  let fail: (error: Error) => void = () => {};
  const server = serverOf({ create: () => new Promise((_, reject) => (fail = reject)) }, { clock });
  assert.equal((await clock.run(server.answer(posted(`${path}?timeout=1s`, review)))).status, 504);
  fail(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('when whoever asked is gone, the handler is told and no listener stays', async () => {
  const asker = new AbortController();
  let isTold = false;
  const server = serverOf({
    create: ({ signal }) => new Promise(() => signal.addEventListener('abort', () => (isTold = true))),
  });
  const answering = server.answer(posted(path, review, { signal: asker.signal }));
  asker.abort();
  assert.equal((await answering).status, 499);
  assert.equal(isTold, true);
  const gone = await server.answer(posted(path, review, { signal: AbortSignal.abort() }));
  assert.equal(gone.status, 499);
});

test('requests are counted by path and code, and those of nobody’s path are not', async () => {
  const metrics = new MetricsRegistry();
  const server = serverOf({}, { metrics });
  await server.answer(posted(path, review));
  await server.answer(posted(path, '{'));
  for (let i = 0; i < 100; i++) await server.answer(posted(`/stranger-${i}`, review));
  const text = metrics.text();
  assert.match(
    text,
    new RegExp(`^controller_runtime_webhook_requests_total\\{webhook="${path}",code="200"\\} 1$`, 'm'),
  );
  assert.match(
    text,
    new RegExp(`^controller_runtime_webhook_requests_total\\{webhook="${path}",code="400"\\} 1$`, 'm'),
  );
  assert.match(text, new RegExp(`^controller_runtime_webhook_latency_seconds_count\\{webhook="${path}"\\} 2$`, 'm'));
  assert.match(text, new RegExp(`^controller_runtime_webhook_requests_in_flight\\{webhook="${path}"\\} 0$`, 'm'));
  assert.match(text, /^controller_runtime_webhook_panics_total 0$/m);
  assert.doesNotMatch(text, /stranger/);
});

test('two webhooks cannot have one path, and a path is one', () => {
  const server = serverOf({});
  const invalid = { code: 'InvalidOptions' };
  assert.throws(() => server.register(validating(Widget, {})), invalid);
  assert.throws(() => server.handle(path, () => ({ status: 200, headers: {}, body: '' })), invalid);
  for (const wrong of ['x', '/x?y', '/x y', '']) {
    assert.throws(() => server.handle(wrong, () => ({ status: 200, headers: {}, body: '' })), invalid);
  }
});

test('a raw handler gets everything as it came; one that throws is a 500', async () => {
  const server = new WebhookServer().handle('/raw', ({ method, body, target }) => {
    if (method === 'DELETE') throw new Error('no');
    return { status: 201, headers: { 'x-a': 'b' }, body: `${method} ${target} ${Buffer.from(body).toString()}` };
  });
  const answer = await server.answer(posted('/raw?a=b', 'hello', { method: 'PUT', headers: {} }));
  assert.deepEqual([answer.status, answer.headers, answer.body], [201, { 'x-a': 'b' }, 'PUT /raw?a=b hello']);
  assert.equal((await server.answer(posted('/raw', '', { method: 'DELETE' }))).status, 500);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch } from '@hangar/api/patch';
import { StatusError } from '@hangar/api/status';
import { Logger, systemClock } from '@hangar/core';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { MetricsRegistry } from '../metrics/registry.ts';
import { defaulting, mutating, validating } from './admission.ts';
import type { Mutate, ValidatingHandlers } from './admission.ts';
import { denied } from './denied.ts';
import type { HookOptions } from './hook-options.ts';
import { admissionReview, posted, responseOf, Widget, widget } from './testing/reviews.ts';
import type { Response } from './testing/reviews.ts';
import { WebhookServer } from './webhook-server.ts';

const validatePath = '/validate-example-com-v1-widget';
const mutatePath = '/mutate-example-com-v1-widget';

async function validated(
  handlers: ValidatingHandlers<Widget>,
  review: object,
  options?: HookOptions,
): Promise<Response> {
  const server = new WebhookServer().register(validating(Widget, handlers, options));
  return responseOf(await server.answer(posted(validatePath, review)));
}

const patchOf = async (mutate: Mutate<Widget>, object: object, make = mutating): Promise<Response['patch']> => {
  const server = new WebhookServer().register(make(Widget, mutate));
  return responseOf(await server.answer(posted(mutatePath, admissionReview('CREATE', { object })))).patch;
};

test('paths are those of controller-runtime', () => {
  assert.equal(validating(Deployment, {}).path, '/validate-apps-v1-deployment');
  assert.equal(mutating(Pod, () => {}).path, '/mutate--v1-pod');
});

test('each operation reaches its own handler, with the object and what it was', async () => {
  const seen: unknown[] = [];
  const note = (name: string) => (asked: { object: unknown; oldObject: unknown }) =>
    void seen.push([name, asked.object, asked.oldObject]);
  const handlers = { create: note('create'), update: note('update'), delete: note('delete'), connect: note('connect') };
  const [object, oldObject] = [widget({ size: 2 }), widget({ size: 1 })];
  for (const [operation, request] of [
    ['CREATE', { object }],
    ['UPDATE', { object, oldObject }],
    ['DELETE', { oldObject }],
    ['CONNECT', { object: { kind: 'PodExecOptions' }, kind: { group: '', version: 'v1', kind: 'PodExecOptions' } }],
  ] as const) {
    const response = await validated(handlers, admissionReview(operation, request));
    assert.deepEqual(response, { uid: '1f6e', allowed: true });
  }
  assert.deepEqual(seen, [
    ['create', object, undefined],
    ['update', object, oldObject],
    ['delete', oldObject, oldObject],
    ['connect', { kind: 'PodExecOptions' }, undefined],
  ]);
});

test('an operation without a handler is allowed', async () => {
  const response = await validated({ create: () => assert.fail() }, admissionReview('DELETE', { oldObject: widget() }));
  assert.equal(response.allowed, true);
});

test('warnings are told, whether they are answered or said on the way to a refusal', async () => {
  const review = admissionReview('CREATE', { object: widget() });
  assert.deepEqual((await validated({ create: () => ['old field'] }, review)).warnings, ['old field']);
  const refused = await validated(
    {
      create({ warn }) {
        warn('before');
        throw denied('no');
      },
    },
    review,
  );
  assert.deepEqual([refused.allowed, refused.warnings], [false, ['before']]);
});

test('a refusal says why, with the reason, the code and the fields', async () => {
  const review = admissionReview('CREATE', { object: widget() });
  const causes = [{ field: 'spec.size', reason: 'FieldValueInvalid', message: 'must be even' }];
  const { allowed, status } = await validated(
    { create: () => Promise.reject(denied('odd', { reason: 'Invalid', causes })) },
    review,
  );
  assert.equal(allowed, false);
  assert.deepEqual(
    [status?.message, status?.reason, status?.code, status?.details],
    ['odd', 'Invalid', 422, { causes }],
  );
  const plainly = await validated({ create: () => Promise.reject(denied('no')) }, review);
  assert.deepEqual([plainly.status?.reason, plainly.status?.code], ['Forbidden', 403]);
});

test('a refusal of an API server that a handler asked is passed on', async () => {
  const handlers = { create: () => Promise.reject(new StatusError('NotFound', 'no such quota')) };
  const { allowed, status } = await validated(handlers, admissionReview('CREATE', { object: widget() }));
  assert.deepEqual([allowed, status?.code, status?.message], [false, 404, 'no such quota']);
});

test('a handler that fails refuses, tells its log and nobody else, and is counted', async () => {
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'json', clock: systemClock, write: (line) => lines.push(line) });
  const metrics = new MetricsRegistry();
  const server = new WebhookServer({ log, metrics }).register(
    validating(Widget, {
      create: () => {
        throw new Error('the password is 1234');
      },
      update: () => Promise.reject('just a text'),
    }),
  );
  for (const [operation, oldObject] of [
    ['CREATE', null],
    ['UPDATE', widget()],
  ] as const) {
    const review = admissionReview(operation, { object: widget(), oldObject });
    const answer = await server.answer(posted(validatePath, review));
    const { allowed, status } = responseOf(answer);
    assert.deepEqual([allowed, status?.code], [false, 500]);
    assert.doesNotMatch(answer.body.toString(), /1234|just a text/);
  }
  assert.match(lines[0]!, /the password is 1234.*1f6e|1f6e.*the password is 1234/);
  assert.match(lines[1]!, /just a text/);
  assert.match(metrics.text(), /^controller_runtime_webhook_panics_total 2$/m);
});

test('an object of another kind does not reach a handler that believes in its types', async () => {
  const server = new WebhookServer().register(validating(Widget, { create: () => assert.fail() }));
  const kind = { group: 'example.com', version: 'v2', kind: 'Widget' };
  const answer = await server.answer(posted(validatePath, admissionReview('CREATE', { kind, object: widget() })));
  assert.equal(answer.status, 400);
  assert.match(answer.body.toString(), /is for example.com\/v1 Widget, not example.com\/v2 Widget/);
});

test('a changed copy becomes a patch of what was changed; what is not known stays', async () => {
  const object = { ...widget({ size: 1, future: { a: [1, 2] } }), unknown: [{ b: null }] };
  const patch = await patchOf(({ object }) => {
    object.spec!.size = 2;
  }, object);
  assert.deepEqual(patch, [{ op: 'replace', path: '/spec/size', value: 2 }]);
});

test('another object may be answered; who it is and what is the server’s stay though it leaves them out', async () => {
  const object = widget({ size: 1 }, { uid: 'u', resourceVersion: '7', managedFields: [], labels: { a: 'b' } });
  const patch = await patchOf(() => ({ metadata: {}, spec: { size: 1, colour: 'red' } }) as unknown as Widget, object);
  assert.deepEqual(patch, [
    { op: 'remove', path: '/metadata/labels' },
    { op: 'add', path: '/spec/colour', value: 'red' },
  ]);
});

test('what is undefined is taken away, a date is its text', async () => {
  const patch = await patchOf(({ object }) => {
    Object.assign(object.spec!, { size: undefined, colour: new Date(0) });
  }, widget());
  assert.deepEqual(patch, [
    { op: 'remove', path: '/spec/size' },
    { op: 'add', path: '/spec/colour', value: '1970-01-01T00:00:00.000Z' },
  ]);
});

test('nothing changed, nothing said: neither patch nor its type', async () => {
  const server = new WebhookServer().register(mutating(Widget, ({ object }) => ({ ...object })));
  const answer = await server.answer(posted(mutatePath, admissionReview('CREATE', { object: widget() })));
  assert.deepEqual(responseOf(answer), { uid: '1f6e', allowed: true });
});

test('a patch says its type', async () => {
  const server = new WebhookServer().register(mutating(Widget, ({ object }) => void (object.spec!.size = 3)));
  const answer = await server.answer(posted(mutatePath, admissionReview('CREATE', { object: widget() })));
  assert.equal(responseOf(answer).patchType, 'JSONPatch');
});

test('defaults only ever add', async () => {
  const patch = await patchOf(
    ({ object }) => ({ ...object, spec: { colour: 'red' } }),
    widget({ size: 1, parts: [] }),
    defaulting,
  );
  assert.deepEqual(patch, [{ op: 'add', path: '/spec/colour', value: 'red' }]);
});

test('defaults in lists are where the handler put them', async () => {
  const object = widget({ size: 1, parts: [{ name: 'a' }, { name: 'b', count: 1 }, { name: 'c' }] });
  const patch = await patchOf(
    ({ object }) => {
      object.spec!.parts = object.spec!.parts!.slice(1).map((part) => ({ count: 2, ...part }));
      delete object.spec!.size;
    },
    object,
    defaulting,
  );
  const { spec } = applyJsonPatch(object, patch) as { spec: unknown };
  assert.deepEqual(spec, {
    size: 1,
    parts: [
      { name: 'b', count: 1 },
      { count: 2, name: 'c' },
    ],
  });
});

test('a deletion is nothing to be changed', async () => {
  const server = new WebhookServer().register(mutating(Widget, () => assert.fail(), { operations: ['DELETE'] }));
  const answer = await server.answer(posted(mutatePath, admissionReview('DELETE', { oldObject: widget() })));
  assert.deepEqual(responseOf(answer), { uid: '1f6e', allowed: true });
});

test('a mutation that answers no object, or one that is no JSON, refuses the request', async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  for (const answer of ['text', 7, [], { size: 1n }, circular]) {
    const server = new WebhookServer().register(mutating(Widget, () => answer as unknown as Widget));
    const response = responseOf(
      await server.answer(posted(mutatePath, admissionReview('CREATE', { object: widget() }))),
    );
    assert.deepEqual([response.allowed, response.status?.code, response.patch], [false, 500, undefined]);
  }
});

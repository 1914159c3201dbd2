import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerRequest } from '../../http/message.ts';
import { annotateForAudit, auditAnnotationsOf } from '../../audit/annotations.ts';
import { configMap, configMaps, definition, definitions, version, widget } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { allowed, answered, denied, patched } from '../../testing/webhook-server.ts';
import { base, rule, WebhookFixture } from './testing/fixture.ts';

test('a webhook is sent a review, and its refusal is the answer', async () => {
  await using one = await WebhookFixture.start((review) =>
    denied(review, { message: 'not today', code: 418, reason: 'Tea' }),
  );
  await one.configure('Validating', 'all', [one.webhook('no')]);
  const { status, data } = await one.server.request('POST', `${configMaps}?fieldManager=me`, { body: configMap('a') });
  assert.equal(status, 418);
  assert.equal(data.message, 'admission webhook "no.example.com" denied the request: not today');
  assert.equal(data.reason, 'Tea');
  const { path, review } = one.hook.received[0]!;
  assert.equal(path, '/no?timeout=10s');
  const { object, uid, ...request } = review.request;
  assert.match(uid, /^[0-9a-f-]{36}$/);
  assert.equal(object.metadata.name, 'a');
  const gvk = { group: '', version: 'v1', kind: 'ConfigMap' };
  const gvr = { group: '', version: 'v1', resource: 'configmaps' };
  assert.deepEqual(request, {
    kind: gvk,
    resource: gvr,
    requestKind: gvk,
    requestResource: gvr,
    name: 'a',
    namespace: 'default',
    operation: 'CREATE',
    userInfo: { username: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
  });
});

test('a refusal without a word, and one with a code that is none', async () => {
  const results = [undefined, { code: 200, reason: 'Because' }, { code: 'x', message: 5 }, { code: 999_999 }];
  await using one = await WebhookFixture.start((review) => denied(review, results[one.hook.received.length - 1]));
  await one.configure('Validating', 'all', [one.webhook('no')]);
  const texts: [number, string][] = [];
  for (const _ of results) {
    const { status, data } = await one.server.request('POST', configMaps, { body: configMap('a') });
    texts.push([status, data.message.replace('admission webhook "no.example.com" denied the request', '')]);
  }
  assert.deepEqual(texts, [
    [400, ' without explanation'],
    [400, ': Because'],
    [400, ' without explanation'],
    [400, ' without explanation'],
  ]);
});

test('mutating webhooks are asked in the order of their names, and each sees what the others did', async () => {
  await using one = await WebhookFixture.start((review, _, path) =>
    patched(review, [{ op: 'add', path: '/data/seen', value: `${review.request.object.data?.seen ?? ''}${path}` }]),
  );
  await one.configure('Mutating', 'b', [one.webhook('third'), one.webhook('fourth')]);
  await one.configure('Mutating', 'a', [one.webhook('first'), one.webhook('second')]);
  const { data } = await one.server.create(configMaps, configMap('a', { own: '1' }));
  assert.deepEqual(data, { own: '1', seen: '/first/second/third/fourth' });
  assert.deepEqual((await one.server.get(`${configMaps}/a`)).data, data);
});

test('what a webhook changed is defaulted, checked, and nobody’s in managedFields', async () => {
  const patches: Record<string, object[]> = {
    add: [{ op: 'add', path: '/data/x', value: 'y' }],
    unknown: [{ op: 'add', path: '/nonsense', value: 1 }],
    type: [{ op: 'add', path: '/data/x', value: 1 }],
    name: [{ op: 'replace', path: '/metadata/name', value: 'Not A Name' }],
    space: [{ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }],
    fields: [{ op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'me' }] }],
    root: [{ op: 'replace', path: '', value: 7 }],
    absent: [{ op: 'remove', path: '/spec/none' }],
  };
  await using one = await WebhookFixture.start((review) => patched(review, patches[review.request.object.data.case]!));
  await one.configure('Mutating', 'all', [one.webhook('do')]);
  const create = (name: string) => one.server.request('POST', configMaps, { body: configMap(name, { case: name }) });
  const added = await create('add');
  assert.equal(added.data.data.x, 'y');
  assert.deepEqual(added.data.metadata.managedFields[0].fieldsV1['f:data'], { '.': {}, 'f:case': {} });
  assert.equal((await create('unknown')).status, 201);
  assert.equal((await create('type')).status, 500);
  assert.equal((await create('name')).status, 422);
  assert.equal((await create('space')).status, 400);
  assert.equal((await one.server.request('GET', '/api/v1/namespaces/kube-system/configmaps/space')).status, 404);
  const fields = await create('fields');
  assert.equal(fields.status, 201);
  assert.match(String(fields.headers['warning']), /managedFields was in an invalid state after admission/);
  assert.equal(fields.data.metadata.managedFields.length, 1);
  assert.equal((await create('root')).status, 500);
  assert.equal((await create('absent')).status, 500);
});

test('a webhook sets a text of a megabyte that is full of separators', async () => {
  const csv = '1,2:[{"a",\n'.repeat(90_000);
  await using one = await WebhookFixture.start((review) =>
    patched(review, [{ op: 'add', path: '/data', value: { csv } }]),
  );
  await one.configure('Mutating', 'csv', [one.webhook('csv')]);
  const made = await one.server.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } });
  assert.equal(made.data.csv, csv);
});

test('a webhook that wants to is asked again when others changed the object after it', async () => {
  await using one = await WebhookFixture.start((review, _, path) => {
    const { seen = '' } = review.request.object.data ?? {};
    if (path === '/late' && seen !== '') return allowed(review);
    return patched(review, [{ op: 'add', path: '/data', value: { seen: `${seen}${path}` } }]);
  });
  await one.configure('Mutating', 'all', [
    one.webhook('again', { reinvocationPolicy: 'IfNeeded' }),
    one.webhook('once'),
    one.webhook('last', { reinvocationPolicy: 'IfNeeded' }),
  ]);
  const { data } = await one.server.create(configMaps, configMap('a'));
  // The last webhook saw no later change until the first one changed the object in the second round.
  assert.deepEqual(one.paths, ['again', 'once', 'last', 'again', 'last']);
  assert.equal(data.seen, '/again/once/last/again/last');
});

test('nobody is asked again when nothing changed', async () => {
  await using one = await WebhookFixture.start((review) =>
    patched(review, [{ op: 'add', path: '/data', value: { a: '1' } }]),
  );
  await one.configure('Mutating', 'all', [one.webhook('a', { reinvocationPolicy: 'IfNeeded' })]);
  await one.server.create(configMaps, configMap('a', { a: '1' }));
  assert.deepEqual(one.paths, ['a']);
});

test('rules, selectors and conditions say who is asked', async () => {
  await using one = await WebhookFixture.start((review) => allowed(review));
  await one.server.create('/api/v1/namespaces', { metadata: { name: 'red', labels: { color: 'red' } } });
  const color = { matchLabels: { color: 'red' } };
  await one.configure('Validating', 'all', [
    one.webhook('every', { rules: [rule('*')] }),
    one.webhook('subresources', { rules: [rule('*/*')] }),
    one.webhook('status', { rules: [rule('*/status')] }),
    one.webhook('group', { rules: [rule('configmaps', { apiGroups: ['apps'] })] }),
    one.webhook('version', { rules: [rule('configmaps', { apiVersions: ['v2'] })] }),
    one.webhook('update', { rules: [rule('configmaps', { operations: ['UPDATE'] })] }),
    one.webhook('cluster', { rules: [rule('*', { scope: 'Cluster' })] }),
    one.webhook('namespaced', { rules: [rule('*', { scope: 'Namespaced' })] }),
    one.webhook('red', { namespaceSelector: color }),
    one.webhook('labelled', { objectSelector: color }),
    one.webhook('cel', {
      matchConditions: [{ name: 'b', expression: 'object != null && object.metadata.name == "b"' }],
    }),
  ]);
  const asked = async (act: () => Promise<unknown>): Promise<string[]> => {
    const before = one.paths.length;
    await act();
    return one.paths.slice(before).sort();
  };
  const { server } = one;
  const common = ['every', 'namespaced', 'subresources'];
  assert.deepEqual(await asked(() => server.create(configMaps, configMap('a'))), common);
  assert.deepEqual(await asked(() => server.create(configMaps, configMap('b'))), ['cel', ...common]);
  assert.deepEqual(await asked(() => server.create('/api/v1/namespaces/red/configmaps', configMap('a'))), [
    'every',
    'namespaced',
    'red',
    'subresources',
  ]);
  const labels = { labels: { color: 'red' } };
  assert.deepEqual(await asked(() => server.create(configMaps, configMap('c', {}, labels))), [
    'every',
    'labelled',
    'namespaced',
    'subresources',
  ]);
  assert.deepEqual(
    await asked(() => server.update(`${configMaps}/c`, configMap('c'))),
    ['every', 'labelled', 'namespaced', 'subresources', 'update'],
    'the old object has the label',
  );
  assert.deepEqual(await asked(() => server.create('/api/v1/namespaces', { metadata: { name: 'blue' } })), [
    'cluster',
    'every',
    'subresources',
  ]);
  assert.deepEqual(
    await asked(() => server.merge('/api/v1/namespaces/blue/status', { metadata: { labels: { a: 'b' } } })),
    ['status', 'subresources'],
  );
  assert.deepEqual(await asked(() => server.remove(`${configMaps}/a`)), common);
  const last = one.hook.received.at(-1)!.review.request;
  assert.deepEqual([last.operation, last.object, last.oldObject.metadata.name], ['DELETE', null, 'a']);
  assert.deepEqual(last.options, { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' });
});

test('conditions that fail are the webhook’s failure, and may ask the authorizer', async () => {
  await using one = await WebhookFixture.start((review) => denied(review));
  const webhook = (name: string, expression: string, rest: object = {}) =>
    one.webhook(name, { matchConditions: [{ name: 'a', expression }], ...rest });
  await one.configure('Validating', 'ignored', [
    webhook('ignored', 'object.data.missing == "x"', { failurePolicy: 'Ignore' }),
    webhook('mine', '!authorizer.group("").resource("configmaps").check("create").allowed()'),
    webhook('user', 'request.userInfo.username == "nobody" && request.operation == "CREATE"'),
  ]);
  await one.server.create(configMaps, configMap('a', { b: 'c' }));
  assert.deepEqual(one.paths, []);
  await one.configure('Validating', 'failing', [webhook('failing', 'object.data.missing == "x"')]);
  const { status, data } = await one.server.request('POST', configMaps, { body: configMap('b', { b: 'c' }) });
  assert.equal(status, 403);
  assert.match(
    data.message,
    /^configmaps "b" is forbidden: expression 'object.data.missing == "x"' resulted in error: /,
  );
});

test('a webhook that was written for another version sees the object in that version', async () => {
  await using one = await WebhookFixture.start((review) =>
    patched(review, [{ op: 'add', path: '/spec/size', value: 5 }]),
  );
  const properties = { size: { type: 'integer' } };
  const versions = [version('v1', properties), version('v2', properties, { storage: false })];
  await one.server.create(definitions, definition({ versions }));
  const rules = [rule('widgets', { apiVersions: ['v2'] })];
  await one.configure('Mutating', 'exact', [one.webhook('exact', { rules, matchPolicy: 'Exact' })]);
  await one.configure('Mutating', 'any', [one.webhook('any', { rules, matchPolicy: 'Equivalent' })]);
  const path = '/apis/example.com/v1/namespaces/default/widgets';
  const made = await one.server.create(path, widget('a', { size: 1 }));
  assert.deepEqual([made.apiVersion, made.spec.size], ['example.com/v1', 5]);
  assert.deepEqual(one.paths, ['any']);
  const { request } = one.hook.received[0]!.review;
  assert.equal(request.object.apiVersion, 'example.com/v2');
  assert.deepEqual([request.kind.version, request.requestKind.version], ['v2', 'v1']);
  assert.deepEqual([request.resource.version, request.requestResource.version], ['v2', 'v1']);
});

test('validating webhooks are asked at the same time, and the first refusal in their order counts', async () => {
  const waiting: (() => void)[] = [];
  await using one = await WebhookFixture.start(async (review, _, path) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      // No call is answered before all have arrived.
      if (waiting.length === 3) for (const each of waiting) each();
    });
    return path === '/a' ? allowed(review) : denied(review, { message: path });
  });
  await one.configure('Validating', 'all', [one.webhook('a'), one.webhook('b'), one.webhook('c')]);
  const { data } = await one.server.request('POST', configMaps, { body: configMap('a') });
  assert.equal(data.message, 'admission webhook "b.example.com" denied the request: /b');
});

test('a dry run is not told to webhooks that do more than answer', async () => {
  await using one = await WebhookFixture.start((review) => allowed(review));
  const { server } = one;
  await one.configure('Validating', 'all', [one.webhook('calm', { sideEffects: 'NoneOnDryRun' })]);
  await server.expect(201, 'POST', `${configMaps}?dryRun=All`, { body: configMap('a') });
  assert.equal(one.hook.received[0]!.review.request.dryRun, true);
  // Only another server can have stored this: v1 no longer accepts it.
  const resource = server.plane.catalogue.find({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: 'validatingwebhookconfigurations',
  })!;
  const key = `${server.plane.prefix}${resource.storagePrefix}/all`;
  const { entry } = await server.store.get(key);
  const object = resource.stored.object(entry!) as Data;
  object.webhooks[0].sideEffects = 'Some';
  await server.store.commit([{ type: 'put', key, value: resource.stored.encode(object) }]);
  await one.settled();
  const { status, data } = await server.request('POST', `${configMaps}?dryRun=All`, { body: configMap('b') });
  assert.deepEqual([status, data.message], [400, 'admission webhook "calm.example.com" does not support dry run']);
  await server.create(configMaps, configMap('b'));
});

test('a webhook that refuses everything can still be taken away', async () => {
  await using one = await WebhookFixture.start((review) => denied(review));
  await one.configure('Validating', 'all', [one.webhook('no', { rules: [rule('*/*')] })]);
  await one.configure('Mutating', 'all', [one.webhook('no', { rules: [rule('*/*')] })]);
  assert.equal((await one.server.request('POST', configMaps, { body: configMap('a') })).status, 400);
  for (const kind of ['validating', 'mutating']) await one.server.remove(`${base}/${kind}webhookconfigurations/all`);
  await one.settled();
  await one.server.create(configMaps, configMap('a'));
});

test('warnings of webhooks are the client’s, older reviews are understood', async () => {
  await using one = await WebhookFixture.start((review) =>
    review.apiVersion === 'admission.k8s.io/v1beta1'
      ? {
          kind: 'AdmissionReview',
          apiVersion: review.apiVersion,
          response: {
            allowed: true,
            patch: Buffer.from('[{"op":"add","path":"/data/old","value":"1"}]').toString('base64'),
          },
        }
      : answered(review, { allowed: true, warnings: ['careful', 'careful', 'very'] }),
  );
  await one.configure('Mutating', 'all', [
    one.webhook('new', { admissionReviewVersions: ['v7', 'v1', 'v1beta1'] }),
    one.webhook('old', { admissionReviewVersions: ['v1beta1', 'v1'] }),
  ]);
  const { data, headers } = await one.server.request('POST', configMaps, { body: configMap('a', { a: 'b' }) });
  assert.deepEqual(data.data, { a: 'b', old: '1' });
  assert.deepEqual(headers['warning'], ['299 - "careful"', '299 - "very"']);
});

test('a refusal that is nonsense is told without the nonsense, in every format', async () => {
  const nonsense = {
    message: 'no',
    reason: ['x'],
    code: 499,
    details: { name: 5, causes: [1, { field: {}, message: 'm' }], retryAfterSeconds: 'soon' },
  };
  await using one = await WebhookFixture.start((review) => denied(review, nonsense));
  await one.configure('Validating', 'all', [one.webhook('no')]);
  const { status, data } = await one.server.request('POST', configMaps, { body: configMap('a') });
  assert.deepEqual([status, data.details, data.reason], [499, { causes: [{ message: 'm' }] }, undefined]);
  const accept = 'application/vnd.kubernetes.protobuf';
  assert.equal((await one.server.request('POST', configMaps, { body: configMap('a'), accept })).status, 499);
});

test('the audit log gets what webhooks say, and what they changed only where it shows objects', async () => {
  await using one = await WebhookFixture.start((review) => ({
    ...patched(review, [{ op: 'add', path: '/data', value: { key: 'secret' } }]),
  }));
  await one.configure('Mutating', 'all', [one.webhook('do')]);
  const { plane } = one.server;
  const seen: ServerRequest[] = [];
  const mutate = plane.admission.mutate.bind(plane.admission);
  plane.admission.mutate = async (request) => {
    const annotate = request.annotate.bind(request);
    const asked = {} as ServerRequest;
    seen.push(asked);
    request.annotate = (key, value, level = 'Metadata') => {
      annotateForAudit(asked, key, value, level);
      annotate(key, value, level);
    };
    await mutate(request);
  };
  await one.server.create(configMaps, configMap('a'));
  const told = auditAnnotationsOf(seen[0]!)!;
  assert.deepEqual(
    [...told],
    [
      [
        'mutation.webhook.admission.k8s.io/round_0_index_0',
        '{"configuration":"all","webhook":"do.example.com","mutated":true}',
      ],
    ],
  );
  const [[key, value]] = [...auditAnnotationsOf(seen[0]!, 'Request')!] as [[string, string]];
  assert.equal(key, 'patch.webhook.admission.k8s.io/round_0_index_0');
  assert.match(value, /secret/);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuTime, steppedCpuTime } from '@hangar/core/testing';
import { applyConfiguration, inForce } from '../admission/policies/testing/policy-server.ts';
import { configMap, configMaps, definition, definitions, TestServer, widget, widgets } from '../testing/test-server.ts';
import type { Data, Sent } from '../testing/test-server.ts';

const apply = (body: object): Sent => ({ body, contentType: 'application/apply-patch+yaml' });
const jsonPatch = (...body: object[]): Sent => ({ body, contentType: 'application/json-patch+json' });
const versionOf = (object: Data): string => object.metadata.resourceVersion;

describe('create', () => {
  test('fills in what is the server’s, and takes nothing of it from the client', async () => {
    await using server = await TestServer.start();
    const created = await server.create(
      configMaps,
      configMap(
        'a',
        {},
        {
          uid: 'mine',
          creationTimestamp: '1999-01-01T00:00:00Z',
          deletionTimestamp: '1999-01-01T00:00:00Z',
          selfLink: '/x',
        },
      ),
    );
    assert.match(created.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.notEqual(created.metadata.creationTimestamp, '1999-01-01T00:00:00Z');
    assert.deepEqual([created.metadata.deletionTimestamp, created.metadata.selfLink], [undefined, undefined]);
    assert.deepEqual(await server.get(`${configMaps}/a`), created);
  });

  test('of what is there is a conflict, of what is going away is one that says so', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a', {}, { finalizers: ['example.com/x'] }));
    const taken = await server.expect(409, 'POST', configMaps, { body: configMap('a') });
    assert.deepEqual([taken.reason, taken.message], ['AlreadyExists', 'configmaps "a" already exists']);
    await server.remove(`${configMaps}/a`);
    const going = await server.expect(409, 'POST', configMaps, { body: configMap('a') });
    assert.equal(going.message, 'object is being deleted: configmaps "a" already exists');
  });

  test('with a version is refused, as is another namespace or no name', async () => {
    await using server = await TestServer.start();
    const refused = await server.expect(500, 'POST', configMaps, {
      body: configMap('a', {}, { resourceVersion: '5' }),
    });
    assert.equal(refused.message, 'resourceVersion should not be set on objects to be created');
    await server.create(configMaps, configMap('zero', {}, { resourceVersion: '0' }));
    await server.expect(400, 'POST', configMaps, { body: configMap('a', {}, { namespace: 'other' }) });
    const nameless = await server.expect(422, 'POST', configMaps, { body: { kind: 'ConfigMap', apiVersion: 'v1' } });
    assert.match(nameless.message, /name or generateName is required/);
  });

  test('generates a name, another one when it is taken, and gives up after a few', async () => {
    await using server = await TestServer.start();
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'gen-' } };
    const all = await Promise.all(Array.from({ length: 20 }, () => server.create(configMaps, body)));
    const names = new Set(all.map((one) => one.metadata.name as string));
    assert.equal(names.size, 20);
    for (const name of names) assert.match(name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    // The random source always returns the same value: the second object finds its name taken repeatedly.
    const { random } = server.plane;
    Object.assign(server.plane, {
      random: { ...random, below: () => 0 },
    });
    await server.create(configMaps, body);
    const refused = await server.expect(409, 'POST', configMaps, { body });
    assert.equal(refused.reason, 'AlreadyExists');
    assert.match(refused.message, /the server was not able to generate a unique name/);
    Object.assign(server.plane, { random });
  });

  test('of the same name at once succeeds once', async () => {
    await using server = await TestServer.start();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => server.request('POST', configMaps, { body: configMap('a') })),
    );
    assert.deepEqual(all.map(({ status }) => status).sort(), [201, ...Array.from({ length: 9 }, () => 409)]);
  });
});

test('a dry run answers as the write would, and writes nothing', async () => {
  await using server = await TestServer.start();
  await server.create(configMaps, configMap('a', { x: '1' }));
  const before = await server.store.revision();
  const created = await server.expect(201, 'POST', `${configMaps}?dryRun=All`, { body: configMap('b') });
  assert.equal(created.metadata.name, 'b');
  assert.equal(versionOf(created), undefined);
  await server.expect(409, 'POST', `${configMaps}?dryRun=All`, { body: configMap('a') });
  const updated = await server.expect(200, 'PUT', `${configMaps}/a?dryRun=All`, { body: configMap('a', { x: '2' }) });
  assert.deepEqual(updated.data, { x: '2' });
  const merged = await server.expect(200, 'PATCH', `${configMaps}/a?dryRun=All`, {
    body: { data: { y: '3' } },
    contentType: 'application/merge-patch+json',
  });
  assert.deepEqual(merged.data, { x: '1', y: '3' });
  await server.expect(201, 'PATCH', `${configMaps}/c?dryRun=All&fieldManager=me`, apply(configMap('c')));
  await server.expect(200, 'DELETE', `${configMaps}/a?dryRun=All`);
  await server.expect(200, 'DELETE', `${configMaps}/a`, {
    body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] },
  });
  await server.expect(200, 'DELETE', `${configMaps}?dryRun=All`);
  await server.expect(201, 'POST', `${definitions}?dryRun=All`, { body: definition() });
  assert.equal(await server.store.revision(), before);
  assert.deepEqual((await server.get(`${configMaps}/a`)).data, { x: '1' });
  await server.expect(404, 'GET', widgets);
});

describe('update', () => {
  test('with an old version is a conflict, without one it is unconditional', async () => {
    await using server = await TestServer.start();
    const first = await server.create(configMaps, configMap('a', { x: '1' }));
    const second = await server.update(`${configMaps}/a`, { ...first, data: { x: '2' } });
    assert.notEqual(versionOf(second), versionOf(first));
    const refused = await server.expect(409, 'PUT', `${configMaps}/a`, { body: { ...first, data: { x: '3' } } });
    assert.equal(refused.reason, 'Conflict');
    assert.match(refused.message, /the object has been modified; please apply your changes to the latest version/);
    await server.update(`${configMaps}/a`, configMap('a', { x: '4' }));
    assert.deepEqual((await server.get(`${configMaps}/a`)).data, { x: '4' });
    await server.expect(400, 'PUT', `${configMaps}/a`, { body: configMap('a', {}, { resourceVersion: 'x' }) });
  });

  test('that changes nothing writes nothing, in any form', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition());
    await server.create(configMaps, configMap('a', { x: '1' }, { labels: { a: 'b' } }));
    await server.create(widgets, widget('w', { size: 1 }));
    for (const path of [`${configMaps}/a`, `${widgets}/w`]) {
      const before = await server.get(path);
      const revision = await server.store.revision();
      assert.equal(versionOf(await server.update(path, before)), versionOf(before));
      assert.equal(versionOf(await server.merge(path, {})), versionOf(before));
      assert.equal(
        versionOf(await server.merge(path, { metadata: { labels: null } })) === versionOf(before),
        path.includes('widgets'),
      );
      if (path.includes('widgets')) assert.equal(await server.store.revision(), revision);
    }
  });

  test('of another name or uid, or of what is not there, is refused', async () => {
    await using server = await TestServer.start();
    const created = await server.create(configMaps, configMap('a'));
    await server.expect(400, 'PUT', `${configMaps}/a`, { body: configMap('b') });
    await server.expect(404, 'PUT', `${configMaps}/none`, { body: configMap('none') });
    const other = { ...created, metadata: { ...created.metadata, uid: '00000000-0000-4000-8000-000000000000' } };
    const refused = await server.expect(409, 'PUT', `${configMaps}/a`, { body: other });
    assert.match(refused.message, /Precondition failed: UID in precondition/);
    const name = await server.expect(400, 'PUT', `${configMaps}/a`, { body: { kind: 'ConfigMap', apiVersion: 'v1' } });
    assert.match(name.message, /name must be provided/);
  });

  test('keeps what is the server’s: uid, creation, deletion', async () => {
    await using server = await TestServer.start();
    const created = await server.create(configMaps, configMap('a', {}, { finalizers: ['example.com/x'] }));
    const marked = await server.remove(`${configMaps}/a`);
    const body = configMap(
      'a',
      { x: '1' },
      { finalizers: ['example.com/x'], creationTimestamp: '1999-01-01T00:00:00Z' },
    );
    const updated = await server.update(`${configMaps}/a`, body);
    assert.equal(updated.metadata.uid, created.metadata.uid);
    assert.equal(updated.metadata.creationTimestamp, created.metadata.creationTimestamp);
    assert.equal(updated.metadata.deletionTimestamp, marked.metadata.deletionTimestamp);
  });
});

describe('patches', () => {
  test('at the same time lose nothing', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a', { n: '0' }));
    const keys = Array.from({ length: 12 }, (_, at) => `k${at}`);
    const write = async (key: string): Promise<void> => {
      for (;;) {
        const { status } = await server.request('PATCH', `${configMaps}/a`, {
          body: { data: { [key]: 'x' } },
          contentType: 'application/merge-patch+json',
        });
        if (status === 200) return;
        assert.equal(status, 409);
      }
    };
    await Promise.all(keys.map(write));
    const { data } = await server.get(`${configMaps}/a`);
    assert.deepEqual(Object.keys(data).sort(), [...keys, 'n'].sort());
  });

  test('that test before they change count every time', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a', { n: '0' }));
    const increment = async (): Promise<void> => {
      for (;;) {
        const { data } = await server.get(`${configMaps}/a`);
        const { status } = await server.request(
          'PATCH',
          `${configMaps}/a`,
          jsonPatch(
            { op: 'test', path: '/data/n', value: data.n },
            { op: 'replace', path: '/data/n', value: String(Number(data.n) + 1) },
          ),
        );
        if (status === 200) return;
        assert.ok(status === 409 || status === 422, `${status}`);
      }
    };
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let at = 0; at < 4; at++) await increment();
      }),
    );
    assert.equal((await server.get(`${configMaps}/a`)).data.n, '24');
  });

  test('may insist on a version, and cannot rename or move', async () => {
    await using server = await TestServer.start();
    const created = await server.create(configMaps, configMap('a', { n: '0' }));
    await server.merge(`${configMaps}/a`, { metadata: { resourceVersion: versionOf(created) }, data: { n: '1' } });
    const merge = (body: object): Sent => ({ body, contentType: 'application/merge-patch+json' });
    await server.expect(
      409,
      'PATCH',
      `${configMaps}/a`,
      merge({ metadata: { resourceVersion: versionOf(created) }, data: { n: '2' } }),
    );
    await server.expect(400, 'PATCH', `${configMaps}/a`, merge({ metadata: { name: 'b' } }));
    await server.expect(400, 'PATCH', `${configMaps}/a`, merge({ metadata: { namespace: 'kube-system' } }));
    await server.expect(404, 'PATCH', `${configMaps}/none`, merge({}));
    await server.expect(415, 'PATCH', `${configMaps}/a`, { body: {} });
    for (const body of ['', '{', '[]', '"x"', 'null', '7']) {
      const { status } = await server.request('PATCH', `${configMaps}/a`, {
        body,
        contentType: 'application/merge-patch+json',
      });
      assert.ok(status === 400 || status === 422 || status === 200, `${body}: ${status}`);
    }
    assert.deepEqual((await server.get(`${configMaps}/a`)).data, { n: '1' });
  });

  test('keys of prototypes in a patch pollute nothing', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    const body =
      '{"__proto__":{"polluted":"yes"},"data":{"__proto__x":"1"},"constructor":{"prototype":{"polluted":"yes"}}}';
    await server.expect(200, 'PATCH', `${configMaps}/a`, { body, contentType: 'application/merge-patch+json' });
    await server.request(
      'PATCH',
      `${configMaps}/a`,
      jsonPatch({ op: 'add', path: '/__proto__/polluted', value: 'yes' }),
    );
    assert.equal(({} as Data).polluted, undefined);
  });
});

describe('server-side apply', () => {
  test('creates, owns, and gives up what it no longer says', async () => {
    await using server = await TestServer.start();
    const target = `${configMaps}/a?fieldManager=one`;
    const created = await server.expect(201, 'PATCH', target, apply(configMap('a', { x: '1', y: '1' })));
    assert.deepEqual(
      created.metadata.managedFields.map((one: Data) => [one.manager, one.operation]),
      [['one', 'Apply']],
    );
    const again = await server.expect(200, 'PATCH', target, apply(configMap('a', { x: '1', y: '1' })));
    assert.equal(versionOf(again), versionOf(created), 'the same again writes nothing');
    const less = await server.expect(200, 'PATCH', target, apply(configMap('a', { x: '1' })));
    assert.deepEqual(less.data, { x: '1' });
  });

  test('conflicts name the manager, and force takes over', async () => {
    await using server = await TestServer.start();
    await server.expect(201, 'PATCH', `${configMaps}/a?fieldManager=one`, apply(configMap('a', { x: '1' })));
    const refused = await server.expect(
      409,
      'PATCH',
      `${configMaps}/a?fieldManager=two`,
      apply(configMap('a', { x: '2' })),
    );
    assert.match(refused.message, /conflict with "one": \.data\.x/);
    const forced = await server.expect(
      200,
      'PATCH',
      `${configMaps}/a?fieldManager=two&force=true`,
      apply(configMap('a', { x: '2' })),
    );
    assert.deepEqual(forced.data, { x: '2' });
  });

  test('without a manager, of another name, or of what is no object is refused', async () => {
    await using server = await TestServer.start();
    await server.expect(422, 'PATCH', `${configMaps}/a`, apply(configMap('a')));
    await server.expect(400, 'PATCH', `${configMaps}/a?fieldManager=x`, apply(configMap('b')));
    for (const body of ['- 1', 'a: [', '7', '']) {
      const sent = { body, contentType: 'application/apply-patch+yaml' };
      await server.expect(400, 'PATCH', `${configMaps}/a?fieldManager=x`, sent);
    }
    await server.expect(404, 'GET', `${configMaps}/a`);
  });

  test('at the same time by many managers loses nothing', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        for (;;) {
          const { status } = await server.request(
            'PATCH',
            `${configMaps}/a?fieldManager=m${at}`,
            apply(configMap('a', { [`k${at}`]: 'x' })),
          );
          if (status === 200) return;
          assert.equal(status, 409);
        }
      }),
    );
    assert.equal(Object.keys((await server.get(`${configMaps}/a`)).data).length, 8);
  });
});

test('unknown and repeated fields are passed over, warned of or refused', async () => {
  await using server = await TestServer.start();
  await server.create(definitions, definition());
  const cases: [path: string, body: string, unknown: RegExp, repeated: RegExp][] = [
    [
      configMaps,
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"NAME"},"data":{},"data":{},"colour":1}',
      /unknown field "colour"/,
      /duplicate field "data"/,
    ],
    [
      widgets,
      '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"NAME"},"spec":{"size":1,"size":2,"colour":1}}',
      /unknown field "spec.colour"/,
      /duplicate field "spec.size"/,
    ],
  ];
  for (const [path, body, unknown, repeated] of cases) {
    const named = (name: string): Sent => ({ body: body.replace('NAME', name) });
    const ignored = await server.request('POST', `${path}?fieldValidation=Ignore`, named('ignored'));
    assert.deepEqual([ignored.status, ignored.headers['warning']], [201, undefined]);
    const warned = await server.request('POST', path, named('warned'));
    assert.equal(warned.status, 201);
    const warnings = (warned.headers['warning'] as string[]).join('\n').replaceAll('\\', '');
    assert.match(warnings, unknown);
    assert.match(warnings, repeated);
    const refused = await server.expect(400, 'POST', `${path}?fieldValidation=Strict`, named('strict'));
    assert.match(refused.message, unknown);
    assert.match(refused.message, repeated);
    assert.ok(!JSON.stringify(await server.get(`${path}/warned`)).includes('colour'));
  }
});

test('so many unknown fields that nobody would read the warnings cost neither time nor headers', async () => {
  await using server = await TestServer.start();
  await server.create(definitions, definition());
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`x${at}`, 1]));
  for (const [path, body] of [
    [configMaps, { ...configMap('many'), ...many }],
    [widgets, { ...widget('many'), ...many }],
    [widgets, { ...widget('long'), ['y'.repeat(100_000)]: 1 }],
  ] as const) {
    const takenMs = cpuTime();
    const { status, headers } = await server.request('POST', path, { body });
    assert.equal(status, 201);
    assert.ok(takenMs() < 5_000);
    assert.ok((headers['warning'] as string[]).join('').length < 20_000);
  }
});

test('bodies that are nothing of the kind are refused, and nothing is stored', async () => {
  await using server = await TestServer.start();
  const before = await server.store.revision();
  const bodies: [body: string | Uint8Array, contentType: string, status: number][] = [
    ['', 'application/json', 400],
    ['{', 'application/json', 400],
    ['null', 'application/json', 422],
    ['[]', 'application/json', 400],
    ['"ConfigMap"', 'application/json', 400],
    ['{"kind":7}', 'application/json', 400],
    ['{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}', 'application/json', 400],
    ['{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}}', 'application/json', 400],
    ['{"kind":"ConfigMap","apiVersion":"v1","metadata":[]}', 'application/json', 400],
    ['{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":7}}', 'application/json', 400],
    ['{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":{}}}', 'application/json', 400],
    ['{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"A_"}}', 'application/json', 422],
    ['{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"../../x"}}', 'application/json', 422],
    [`${'['.repeat(100_000)}`, 'application/json', 400],
    [`${'{"a":'.repeat(50_000)}`, 'application/json', 400],
    ['a: &a [*a, *a]', 'application/yaml', 400],
    [Buffer.from([0xff, 0xfe, 0x00]), 'application/json', 400],
    [Buffer.from('k8s\u0000garbage'), 'application/vnd.kubernetes.protobuf', 400],
    [Buffer.from('no magic'), 'application/vnd.kubernetes.protobuf', 400],
    ['{}', 'text/plain', 415],
    ['{}', 'application/x-www-form-urlencoded', 415],
  ];
  for (const [body, contentType, status] of bodies) {
    const answer = await server.request('POST', configMaps, { body, contentType });
    assert.equal(answer.status, status, `${String(body).slice(0, 60)}: ${answer.text.slice(0, 200)}`);
    assert.equal(answer.data.kind, 'Status');
  }
  assert.equal(await server.store.revision(), before);
});

test('what is larger than the store takes is 413', async () => {
  await using server = await TestServer.start();
  const refused = await server.request('POST', configMaps, {
    body: configMap('a', { x: 'x'.repeat(2 * 1024 * 1024) }),
  });
  assert.ok(refused.status === 413 || refused.status === 422, refused.text.slice(0, 300));
  await server.expect(404, 'GET', `${configMaps}/a`);
});

describe('writes that meet', () => {
  test('create an object once: who applies it a moment later changes it', async () => {
    await using server = await TestServer.start();
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        server.request('PATCH', `${configMaps}/shared?fieldManager=m${index}&force=true`, {
          ...apply(configMap('shared', { [`key${index}`]: 'x' })),
          headers: {},
        }),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 201]));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(Object.keys((await server.get(`${configMaps}/shared`)).data).length, 4);
  });
});

test('an object that is written unchanged is stored anew when it was stored in another form', async () => {
  await using server = await TestServer.start();
  await server.create(configMaps, configMap('a'));
  const path = `${configMaps}/a`;
  const key = '/registry/clusters/root/configmaps/default/a';
  const before = await server.get(path);
  await server.expect(200, 'PUT', path, { body: before });
  assert.equal(versionOf(await server.get(path)), versionOf(before));
  const { entry } = await server.store.get(key);
  const { kind, apiVersion, ...rest } = JSON.parse(Buffer.from(entry!.value).toString()) as Data;
  const otherOrder = Buffer.from(JSON.stringify({ ...rest, apiVersion, kind }));
  await server.store.commit([{ type: 'put', key, value: otherOrder }]);
  const asOthersWrote = await server.get(path);
  await server.expect(200, 'PUT', path, { body: asOthersWrote });
  assert.notEqual(versionOf(await server.get(path)), versionOf(asOthersWrote));
});

test('rules of custom resources have a slice of their own after policies', async (t) => {
  await using server = await TestServer.start();
  const ten = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]';
  const slow = `${ten}.all(a, ${ten}.all(b, ${ten}.all(c, ${ten}.all(d, a + b + c + d > 0))))`;
  const size = { type: 'integer', 'x-kubernetes-validations': [{ rule: `${slow} && self > 0` }] };
  await server.create(definitions, definition({ spec: { size } }));
  const constraint = { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['*'], resources: ['widgets'] };
  await inForce(server, 'Mutating', 'slow', {
    policy: {
      matchConstraints: { resourceRules: [constraint] },
      matchConditions: [{ name: 'slow', expression: `!(${slow})` }],
      mutations: [applyConfiguration('Object{}')],
    },
  });
  const compiled = await server.create(widgets, widget('a', { size: 1 }));
  // The condition and the rule each take more than half of a slice.
  steppedCpuTime(t, () => 2);
  await server.create(widgets, widget('b', { size: 1 }));
  await server.expect(200, 'PUT', `${widgets}/a`, { body: { ...compiled, spec: { size: 2 } } });
});

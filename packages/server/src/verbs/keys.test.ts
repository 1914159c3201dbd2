/** Tests that a request can only touch keys of its own resource and namespace, for any path and name. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinGroups } from '@hangar/api';
import type { Store } from '@hangar/store';
import { configMap, definition, definitions, TestServer, widget } from '../testing/test-server.ts';

/** Records every key and range that is read or written. */
function listening(store: Store, touched: string[]): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]) => {
        const [first] = parameters;
        if (name === 'get') touched.push(first as string);
        if (name === 'range' || name === 'statistics') touched.push((first as { start: string }).start);
        if (name === 'watch') touched.push((first as { prefix: string }).prefix);
        if (name === 'commit') for (const write of first as { key: string }[]) touched.push(write.key);
        return value.apply(target, parameters) as unknown;
      };
    },
  });
}

const hostileNames = [
  '..',
  '.',
  '%2e%2e',
  '%2E',
  '%2e%2e%2fkube-system%2fsecret',
  '..%2fkube-system%2fsecret',
  '..%5ckube-system',
  '%2f',
  '%2F%2F',
  'kube-system%2fsecret',
  '%252e%252e%252f',
  '%25',
  '%00',
  'a%00',
  'a%0a',
  '%7f',
  '%c0%ae%c0%ae',
  '%ff',
  '%',
  '%2',
  'A',
  'SECRET',
  '%EF%BC%8F',
  '\u2024\u2024',
  '',
  ' ',
  '%20',
  '*',
  'secret%3f',
  'secret%23',
  'secret;x=1',
  'x'.repeat(3_000),
  '__proto__',
  'constructor',
  '%F0%9F%98%80',
  'a%2f..%2f..%2fsecrets%2fkube-system%2fsecret',
];

test('no name in a path leads to another namespace or resource', async () => {
  const touched: string[] = [];
  await using server = await TestServer.start({ wrapStore: (store) => listening(store, touched) });
  const { prefix } = server.plane;
  await server.create('/api/v1/namespaces/kube-system/secrets', {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 'secret' },
  });
  await server.create('/api/v1/namespaces/kube-system/configmaps', configMap('secret'));
  const revision = await server.store.revision();
  const methods: [method: string, contentType: string, body: object | undefined][] = [
    ['GET', '', undefined],
    ['DELETE', '', undefined],
    ['PUT', 'application/json', configMap('secret')],
    ['PATCH', 'application/merge-patch+json', { data: { x: 'y' } }],
    ['PATCH', 'application/apply-patch+yaml', configMap('secret')],
  ];
  for (const name of hostileNames) {
    for (const [method, contentType, body] of methods) {
      touched.length = 0;
      const target = `/api/v1/namespaces/default/configmaps/${name}?fieldManager=me`;
      const { status } = await server.request(method, target, body === undefined ? {} : { body, contentType });
      const isOwn = (key: string): boolean =>
        key.startsWith(`${prefix}configmaps/default/`) &&
        !/\/default\/.*\//.test(key.slice(prefix.length + 'configmaps'.length));
      // Lists are read as one collection; a create reads its namespace.
      const isAllowed = (key: string): boolean =>
        isOwn(key) || key === `${prefix}configmaps/` || key === `${prefix}namespaces/default`;
      assert.deepEqual(
        touched.filter((key) => !isAllowed(key)),
        [],
        `${method} ${name.slice(0, 40)}`,
      );
      assert.ok(
        status >= 400 || (method === 'GET' && name === '') || (method === 'DELETE' && name === ''),
        `${method} ${name}: ${status}`,
      );
    }
  }
  assert.equal(await server.store.revision(), revision, 'and nothing was written');
});

test('no namespace in a path leads to another namespace or resource', async () => {
  const touched: string[] = [];
  await using server = await TestServer.start({ wrapStore: (store) => listening(store, touched) });
  const { prefix } = server.plane;
  await server.create('/api/v1/namespaces/kube-system/configmaps', configMap('secret'));
  for (const name of [...hostileNames, 'default%2f..%2fkube-system', '..%2fconfigmaps%2fkube-system']) {
    if (name === '') continue;
    for (const [method, rest, query] of [
      ['GET', '', ''],
      ['GET', '', '?watch=1'],
      ['GET', '/secret', ''],
      ['DELETE', '/secret', ''],
      ['DELETE', '', ''],
      ['POST', '', ''],
    ] as const) {
      touched.length = 0;
      const body = method === 'POST' ? { body: configMap('x') } : {};
      const answer = await server.answer(method, `/api/v1/namespaces/${name}/configmaps${rest}${query}`, body);
      assert.ok(
        answer.status >= 400 || (method === 'GET' && rest === '') || (method === 'DELETE' && rest === ''),
        `${method} ${name}: ${answer.status}`,
      );
      for (const key of touched) {
        assert.ok(
          !key.startsWith(`${prefix}configmaps/kube-system`) && !/\/\.\.?\//.test(key),
          `${method} ${name}: ${key}`,
        );
        assert.ok(
          key.startsWith(`${prefix}configmaps/`) || key.startsWith(`${prefix}namespaces/`),
          `${method} ${name}: ${key}`,
        );
      }
    }
  }
  await server.get('/api/v1/namespaces/kube-system/configmaps/secret');
});

test('no name in a body is a key of its own', async () => {
  const touched: string[] = [];
  await using server = await TestServer.start({ wrapStore: (store) => listening(store, touched) });
  const revision = await server.store.revision();
  for (const name of [
    '..',
    '.',
    '../kube-system/x',
    'a/b',
    '/',
    '%2e',
    'a%2fb',
    '\u0000',
    'A',
    'x'.repeat(3_000),
    '',
  ]) {
    for (const metadata of [{ name }, { name: '', generateName: name }]) {
      const { status } = await server.request('POST', '/api/v1/namespaces/default/configmaps', {
        body: configMap('', {}, metadata),
      });
      // A generateName prefix is completed to a valid name, or truncated.
      if (status === 201) assert.match(name, /^x*$/);
      else assert.ok(status === 422, `${JSON.stringify(metadata).slice(0, 60)}: ${status}`);
    }
  }
  for (const namespace of ['..', 'kube-public', 'default/x', '']) {
    const { status } = await server.request('POST', '/api/v1/namespaces/default/configmaps', {
      body: configMap('named', {}, { namespace }),
      headers: {},
    });
    assert.equal(status, namespace === '' ? 201 : 400);
  }
  assert.ok((await server.store.revision()) > revision);
  assert.deepEqual((await server.get('/api/v1/namespaces/kube-public/configmaps')).items, []);
});

test('resources of the cluster are not reached through a namespace, custom ones called namespaces neither', async () => {
  await using server = await TestServer.start();
  await server.expect(404, 'GET', '/api/v1/namespaces/default/nodes/x');
  await server.create(definitions, definition({ plural: 'namespaces', kind: 'Space', scope: 'Cluster' }));
  const body = { ...widget('a'), kind: 'Space' };
  await server.create('/apis/example.com/v1/namespaces', body);
  await server.get('/apis/example.com/v1/namespaces/a');
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const sent = method === 'PUT' ? { body } : {};
    await server.expect(404, method, '/apis/example.com/v1/namespaces/default/namespaces/a', sent);
  }
  await server.get('/apis/example.com/v1/namespaces/a');
});

test('custom resources of a namespace are not reached without one, except to look', async () => {
  await using server = await TestServer.start();
  await server.create(definitions, definition());
  await server.create('/apis/example.com/v1/namespaces/default/widgets', widget('a'));
  for (const [method, path] of [
    ['DELETE', '/apis/example.com/v1/widgets'],
    ['POST', '/apis/example.com/v1/widgets'],
    ['GET', '/apis/example.com/v1/widgets/a'],
    ['DELETE', '/apis/example.com/v1/widgets/a'],
  ] as const) {
    await server.expect(404, method, path, method === 'POST' ? { body: widget('b') } : {});
  }
  assert.equal((await server.get('/apis/example.com/v1/widgets')).items.length, 1);
});

test('no two built-in resources share keys, and none lies inside another', () => {
  const prefixes = new Map<string, string>();
  for (const { name: group, versions } of builtinGroups()) {
    for (const { resources } of versions) {
      for (const { name, storage } of resources) {
        if (!storage) continue;
        // Versions of one resource share a prefix, and so do the two groups of events.
        const id = name === 'events' ? name : `${name}.${group}`;
        const known = prefixes.get(storage.prefix);
        if (known === undefined) prefixes.set(storage.prefix, id);
        else assert.equal(known.split('.')[0], name, storage.prefix);
      }
    }
  }
  const all = [...prefixes.keys()].map((prefix) => `${prefix}/`).sort();
  for (const one of all)
    for (const other of all) assert.ok(one === other || !other.startsWith(one), `${other} in ${one}`);
});

test('methods that are none are not allowed, and touch nothing', async () => {
  await using server = await TestServer.start();
  await server.create('/api/v1/namespaces/default/configmaps', configMap('a'));
  const revision = await server.store.revision();
  for (const method of ['OPTIONS', 'LIST', 'delete', 'TRACE', 'CONNECT', 'deletecollection']) {
    for (const path of ['/api/v1/namespaces/default/configmaps', '/api/v1/namespaces/default/configmaps/a']) {
      await server.expect(405, method, path);
    }
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    await server.expect(405, method, '/api/v1/watch/namespaces/default/configmaps', { body: configMap('b') });
  }
  await server.expect(405, 'POST', '/api/v1/namespaces/default/configmaps/a', { body: configMap('a') });
  await server.expect(405, 'PUT', '/api/v1/namespaces/default/configmaps', { body: configMap('a') });
  assert.equal(await server.store.revision(), revision);
});

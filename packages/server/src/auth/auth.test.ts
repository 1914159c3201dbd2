import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClientCertificate, Peer } from '../http/message.ts';
import { configMap, configMaps, TestServer, virtualClock } from '../testing/test-server.ts';
import { anonymousAccess } from './anonymous.ts';
import type { AnonymousOptions } from './anonymous.ts';
import { StaticTokenAuthenticator } from './authenticate.ts';
import type { Authorizer } from './authorize.ts';
import { bearerToken } from './bearer.ts';
import { Guard } from './guard.ts';

const tokens = [{ token: 'jane-token', user: 'jane', groups: ['readers'] }];

const peer = (certificate: Partial<ClientCertificate>, expiresAt: number): Peer => ({
  address: '127.0.0.1',
  certificate: { commonName: 'admin', organizations: ['system:masters'], expiresAt, ...certificate },
});

test('a bearer token is read as RFC 6750 has it', () => {
  const cases: [header: string | undefined, expected: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['Bearer x', 'x'],
    ['bearer x ', 'x'],
    ['BEARER    x', 'x'],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Bearer x y', undefined],
    ['Bearerx', undefined],
    ['Basic eDp5', undefined],
  ];
  for (const [header, expected] of cases) assert.equal(bearerToken(header), expected, String(header));
});

test('a static token is its user, and nothing else is', () => {
  const authenticator = new StaticTokenAuthenticator([{ token: 't', user: 'u', uid: '7', groups: ['g'] }]);
  assert.deepEqual(authenticator.authenticateToken('t'), { user: { name: 'u', uid: '7', groups: ['g'], extra: {} } });
  for (const other of ['T', 'tt', 'u', '']) assert.equal(authenticator.authenticateToken(other), undefined);
});

describe('who shows nothing that is known', () => {
  test('is refused, except where health and version are asked for', async () => {
    await using server = await TestServer.start();
    for (const path of [
      configMaps,
      '/api',
      '/apis',
      '/',
      '/openapi/v2',
      '/openapi/v3',
      '/nothing',
      '/healthzz',
      '/versions',
      '/livez.txt',
    ]) {
      const refused = await server.expect(401, 'GET', path, { token: null });
      assert.deepEqual([refused.reason, refused.message], ['Unauthorized', 'Unauthorized']);
    }
    for (const path of ['/healthz', '/livez', '/readyz', '/version', '/readyz?verbose']) {
      const { status } = await server.request('GET', path, { token: null });
      assert.equal(status, 200, path);
    }
    for (const path of ['/livez/../api/v1/secrets', '/healthz/%2e%2e/api', '/readyz//api']) {
      const { status } = await server.request('GET', path, { token: null });
      assert.equal(status, 404, path);
    }
    await server.expect(401, 'POST', configMaps, { token: null, body: configMap('a') });
    assert.notEqual((await server.request('POST', '/version', { token: null })).status, 200);
  });

  test('is refused everywhere when what it shows is wrong', async () => {
    await using server = await TestServer.start();
    for (const path of [configMaps, '/healthz', '/livez', '/version']) {
      await server.expect(401, 'GET', path, { token: 'wrong' });
      await server.expect(401, 'GET', path, { token: null, headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } });
    }
  });

  test('is let in where the administrator says so, to be judged as everybody', async () => {
    const asked: string[] = [];
    const noting: Authorizer = {
      authorize: (user) => {
        asked.push(user.name);
        return 'no opinion';
      },
    };
    const start = (anonymous: AnonymousOptions): Promise<TestServer> =>
      TestServer.start({ authorizers: [noting], authentication: () => ({ anonymous: anonymousAccess(anonymous) }) });
    const code = async (server: TestServer, path: string): Promise<number> =>
      (await server.request('GET', path, { token: null })).status;
    await using some = await start({ enabled: true, conditions: [{ path: '/api' }, { path: '/healthz' }] });
    assert.deepEqual([await code(some, '/api'), await code(some, '/apis')], [403, 401]);
    assert.deepEqual([await code(some, '/healthz'), await code(some, '/readyz')], [200, 401]);
    assert.deepEqual(asked, ['system:anonymous']);
    await some.expect(401, 'GET', '/api', { token: 'wrong' });
    await using none = await start({ enabled: false });
    assert.deepEqual([await code(none, '/healthz'), await code(none, '/api')], [401, 401]);
    await using all = await start({ enabled: true });
    assert.deepEqual([await code(all, '/healthz'), await code(all, configMaps)], [200, 403]);
  });

  test('cannot say who it is by headers', async () => {
    await using server = await TestServer.start();
    await server.expect(401, 'GET', configMaps, {
      token: null,
      headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'impersonate-user': 'admin' },
    });
  });
});

describe('a client certificate', () => {
  test('is its common name, with its organizations as groups', async () => {
    const seen: string[] = [];
    const noting: Authorizer = {
      authorize: (user) => {
        seen.push(`${user.name}: ${user.groups.join(' ')}`);
        return 'allow';
      },
    };
    await using server = await TestServer.start({ authorizers: [noting] });
    const jane = peer({ commonName: 'jane', organizations: ['a', 'b'] }, Date.now() + 60_000);
    await server.expect(200, 'GET', configMaps, { token: null, peer: jane });
    await server.expect(200, 'GET', configMaps, { token: null, peer: jane });
    assert.deepEqual(new Set(seen), new Set(['jane: a b system:authenticated']));
  });

  test('counts until it expires, also on a connection that is older', async () => {
    const clock = virtualClock();
    await using server = await TestServer.start({ clock });
    const admin = peer({}, clock.now() + 60_000);
    await server.expect(200, 'GET', configMaps, { token: null, peer: admin });
    await clock.advance(59_000);
    await server.expect(200, 'GET', configMaps, { token: null, peer: admin });
    await clock.advance(2_000);
    await server.expect(401, 'GET', configMaps, { token: null, peer: admin });
    await server.expect(200, 'GET', configMaps, { peer: admin });
  });

  test('without a name is nobody', async () => {
    await using server = await TestServer.start();
    const nameless = peer({ commonName: '' }, Date.now() + 60_000);
    await server.expect(401, 'GET', configMaps, { token: null, peer: nameless });
  });
});

test('who may not is told what it may not, in the words of Kubernetes', async () => {
  await using server = await TestServer.start({ tokens });
  const cases: [method: string, path: string, message: string][] = [
    [
      'GET',
      configMaps,
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      'GET',
      `${configMaps}/a`,
      'configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      'GET',
      '/api/v1/nodes?watch=true',
      'nodes is forbidden: User "jane" cannot watch resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'DELETE',
      '/apis/apps/v1/namespaces/x/deployments',
      'deployments.apps is forbidden: User "jane" cannot deletecollection resource "deployments" in API group "apps" in the namespace "x"',
    ],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/x/deployments/d/scale',
      'deployments.apps "d" is forbidden: User "jane" cannot patch resource "deployments/scale" in API group "apps" in the namespace "x"',
    ],
    [
      'GET',
      '/api/v1/namespaces/x',
      'namespaces "x" is forbidden: User "jane" cannot get resource "namespaces" in API group "" in the namespace "x"',
    ],
    ['GET', '/openapi/v2', 'forbidden: User "jane" cannot get path "/openapi/v2"'],
    ['GET', '/apis', 'forbidden: User "jane" cannot get path "/apis"'],
  ];
  for (const [method, path, message] of cases) {
    const refused = await server.expect(403, method, path, { token: 'jane-token' });
    assert.deepEqual([refused.reason, refused.message], ['Forbidden', message]);
  }
  // The response does not reveal whether the resource exists.
  await server.expect(403, 'GET', '/apis/nothing.example.com/v1/things', { token: 'jane-token' });
  await server.expect(200, 'GET', '/version', { token: 'jane-token' });
});

test('what is asked of the authorizer is what will be touched', async () => {
  const asked: string[] = [];
  const noting: Authorizer = {
    authorize: (_user, info) => {
      asked.push(info.isResource ? `${info.verb} ${info.resource} ${info.namespace} ${info.name}` : info.path);
      return 'deny';
    },
  };
  await using server = await TestServer.start({ authorizers: [noting] });
  for (const [target, expected] of [
    ['/api/v1/namespaces/%64efault/configmaps/%61', 'get configmaps default a'],
    ['/api/v1/namespaces//configmaps', 'list configmaps  '],
    ['/api/v1/namespaces/default/configmaps/a?watch=1', 'get configmaps default a'],
    ['/api/v1/watch/namespaces/default/configmaps', 'watch configmaps default '],
    ['/api/v1/namespaces/a/namespaces/b', 'get namespaces a b'],
  ] as const) {
    await server.expect(403, 'GET', target);
    assert.equal(asked.pop(), expected, target);
  }
});

test('the first authorizer with an opinion decides, and none is no', async () => {
  const says = (decision: 'allow' | 'deny' | 'no opinion'): Authorizer => ({ authorize: () => decision });
  const user = { name: 'u', uid: '', groups: [], extra: {} };
  const info = { isResource: false, verb: 'get', path: '/' } as const;
  const decide = (...authorizers: Authorizer[]) => new Guard({ authenticators: [], authorizers }).decide(user, info);
  assert.equal(await decide(), 'no opinion');
  assert.equal(await decide(says('no opinion'), says('allow'), says('deny')), 'allow');
  assert.equal(await decide(says('deny'), says('allow')), 'deny');
  await using server = await TestServer.start({ authorizers: [says('no opinion')] });
  await server.expect(403, 'GET', configMaps);
});

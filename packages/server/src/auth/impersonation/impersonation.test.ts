import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { privilegedGroup } from '../authorize.ts';
import type { Authorizer } from '../authorize.ts';
import { configMaps, TestServer } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';

const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** Permissions of jane, as `verb resource[/subresource] name`. Other authenticated users may do everything except impersonate. */
const may = (...rights: string[]): Authorizer => ({
  authorize(user, info) {
    const what = info.isResource
      ? `${info.verb} ${info.resource}${info.subresource && `/${info.subresource}`} ${info.namespace && `${info.namespace}/`}${info.name}`
      : info.path;
    if (user.name === 'jane') return rights.includes(what.trim()) ? 'allow' : 'no opinion';
    return info.verb.startsWith('impersonate') ? 'no opinion' : 'allow';
  },
});

const tokens = [{ token: 'jane', user: 'jane' }];
const start = (...rights: string[]): Promise<TestServer> =>
  TestServer.start({ tokens, authorizers: [privilegedGroup, may(...rights)] });

type Headers = Readonly<Record<string, string | string[]>>;

async function become(server: TestServer, headers: Headers, token = 'admin'): Promise<Data> {
  return (await server.expect(201, 'POST', self, { token, headers, body: {} })).status.userInfo;
}

const refused = async (server: TestServer, headers: Headers): Promise<string> =>
  (await server.expect(403, 'GET', configMaps, { token: 'jane', headers })).message;

describe('an administrator', () => {
  test('acts as a user, a service account, a node or nobody, with the groups that they have', async () => {
    await using server = await start();
    assert.deepEqual(await become(server, { 'impersonate-user': 'joe' }), {
      username: 'joe',
      groups: ['system:authenticated'],
    });
    assert.deepEqual((await become(server, { 'impersonate-user': 'system:serviceaccount:ns:robot' })).groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
    assert.deepEqual((await become(server, { 'impersonate-user': 'system:node:n1' })).groups, [
      'system:nodes',
      'system:authenticated',
    ]);
    assert.deepEqual((await become(server, { 'impersonate-user': 'system:anonymous' })).groups, [
      'system:unauthenticated',
    ]);
  });

  test('says everything of the user itself', async () => {
    await using server = await start();
    const headers = {
      'impersonate-user': 'joe',
      'impersonate-uid': '7',
      'impersonate-group': ['a', 'b, c', 'system:masters'],
      'impersonate-extra-example.com%2fscope': ['x', 'y'],
      'impersonate-extra-__proto__': 'p',
    };
    const user = await become(server, headers);
    assert.deepEqual([user.username, user.uid], ['joe', '7']);
    assert.deepEqual(user.groups, ['a', 'b, c', 'system:masters', 'system:authenticated']);
    assert.deepEqual(Object.entries(user.extra), [
      ['__proto__', ['p']],
      ['example.com/scope', ['x', 'y']],
    ]);
  });

  test('is understood beyond ASCII', async () => {
    await using server = await start();
    const bytes = (text: string): string => Buffer.from(text).toString('latin1');
    const headers = { 'impersonate-user': bytes('józef'), 'impersonate-group': bytes('größe') };
    const user = await become(server, headers);
    assert.deepEqual([user.username, user.groups[0]], ['józef', 'größe']);
  });

  test('must name the user', async () => {
    await using server = await start();
    for (const headers of [
      { 'impersonate-group': 'system:masters' },
      { 'impersonate-uid': '7' },
      { 'impersonate-extra-a': 'b' },
      { 'impersonate-user': '', 'impersonate-group': 'a' },
    ]) {
      const { message } = await server.expect(400, 'GET', configMaps, { headers });
      assert.match(message, /^requested &user\.DefaultInfo\{.*\} without impersonating a user name$/);
    }
  });

  test('has the rights of whom it acts as, and no more', async () => {
    await using server = await start();
    const message = await server.expect(403, 'GET', configMaps, { headers: { 'impersonate-user': 'jane' } });
    assert.match(message.message, /^configmaps is forbidden: User "jane" cannot list/);
  });
});

describe('who may not impersonate', () => {
  test('is refused, whoever it wants to be', async () => {
    await using server = await start('list configmaps default/');
    await server.expect(200, 'GET', configMaps, { token: 'jane' });
    for (const headers of [
      { 'impersonate-user': 'admin' },
      { 'impersonate-user': 'jane' },
      { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'system:serviceaccount:kube-system:default' },
    ]) {
      assert.match(await refused(server, headers), /cannot impersonate/);
    }
    assert.equal(
      await refused(server, { 'impersonate-user': 'admin' }),
      'configmaps is forbidden: User "jane" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "default"',
    );
  });

  test('is refused without credentials, also where none are needed', async () => {
    await using server = await start();
    await server.expect(401, 'GET', configMaps, { token: null, headers: { 'impersonate-user': 'admin' } });
    await server.expect(403, 'GET', '/version', { token: null, headers: { 'impersonate-user': 'admin' } });
  });
});

describe('who may impersonate one user', () => {
  const right = 'impersonate users joe';

  test('may not be another, nor in other groups, with another uid or more', async () => {
    await using server = await start(right);
    assert.equal((await become(server, { 'impersonate-user': 'joe' }, 'jane')).username, 'joe');
    await refused(server, { 'impersonate-user': 'jim' });
    for (const more of [
      { 'impersonate-group': 'system:masters' },
      { 'impersonate-group': ['a', 'b'] },
      { 'impersonate-uid': '7' },
      { 'impersonate-extra-scopes': 'all' },
    ]) {
      await refused(server, { 'impersonate-user': 'joe', ...more });
    }
  });

  test('may be in a group, and have what it may have, each by a right of its own', async () => {
    await using server = await start(
      right,
      'impersonate groups dev',
      'impersonate uids 7',
      'impersonate userextras/scopes view',
    );
    const headers = {
      'impersonate-user': 'joe',
      'impersonate-group': 'dev',
      'impersonate-uid': '7',
      'impersonate-extra-scopes': 'view',
    };
    const user = await become(server, headers, 'jane');
    assert.deepEqual([user.uid, user.groups, user.extra], ['7', ['dev', 'system:authenticated'], { scopes: ['view'] }]);
    await refused(server, { ...headers, 'impersonate-extra-scopes': ['view', 'all'] });
    await refused(server, { ...headers, 'impersonate-group': ['dev', 'ops'] });
  });

  test('cannot go on from there', async () => {
    await using server = await start(right);
    const headers = { 'impersonate-user': ['joe', 'admin'] };
    assert.equal((await become(server, headers, 'jane')).username, 'joe');
  });
});

describe('who may impersonate for one purpose', () => {
  test('may do that and nothing else', async () => {
    await using server = await start(
      'impersonate:user-info users joe',
      'impersonate-on:user-info:create selfsubjectreviews',
    );
    assert.equal((await become(server, { 'impersonate-user': 'joe' }, 'jane')).username, 'joe');
    assert.match(await refused(server, { 'impersonate-user': 'joe' }), /impersonate-on:user-info:list/);
  });

  test('is never a master in this way, nor a service account or a node as if they were users', async () => {
    await using server = await start(
      'impersonate-on:user-info:list configmaps default/',
      'impersonate:user-info users joe',
      'impersonate:user-info groups system:masters',
      'impersonate:user-info users system:node:n1',
      'impersonate:user-info users system:serviceaccount:a:b',
    );
    const masters = { 'impersonate-user': 'joe', 'impersonate-group': 'system:masters' };
    assert.match(await refused(server, masters), /impersonating the system:masters group is not allowed$/);
    await refused(server, { 'impersonate-user': 'system:node:n1' });
    await refused(server, { 'impersonate-user': 'system:serviceaccount:a:b' });
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privilegedGroup } from '../auth/authorize.ts';
import type { Authorizer } from '../auth/authorize.ts';
import type { Visibility } from '../auth/visibility.ts';
import { startInProcess } from '../testing/in-process.ts';
import type { InProcessServer } from '../testing/in-process.ts';

/** Parsed response. */
type Json = ReturnType<typeof JSON.parse>;

/** Jane may create reviews and read pods in one namespace; secrets are forbidden to all users except administrators. */
const jane: Authorizer = {
  authorize(user, info) {
    if (user.name !== 'jane' || !info.isResource) return 'no opinion';
    if (info.resource === 'secrets') return 'deny';
    if (info.group.endsWith('authorization.k8s.io') || info.group === 'authentication.k8s.io') return 'allow';
    return info.verb === 'get' && info.resource === 'pods' && info.namespace === 'default' ? 'allow' : 'no opinion';
  },
};

/** Kim may do everything with the objects that are called `seen`. */
const kim: Authorizer = {
  authorize(user, info) {
    if (user.name !== 'kim' || !info.isResource) return 'no opinion';
    if (info.group.endsWith('authorization.k8s.io')) return 'allow';
    const visibility: Visibility = {
      reached: async () => {},
      keys: () => ['seen'],
      has: (_namespace, name) => name === 'seen',
      isVisible: ({ metadata }) => metadata.name === 'seen',
      changedSince: () => false,
      onChange: () => () => {},
    };
    return { decision: 'allow', reason: 'limited', visibility };
  },
};

const start = (): Promise<InProcessServer> =>
  startInProcess({
    authorizers: [privilegedGroup, jane, kim],
    tokens: [
      { token: 'janes', user: 'jane', uid: '7', groups: ['staff'] },
      { token: 'kims', user: 'kim', uid: '8', groups: [] },
    ],
  });

async function ask(server: InProcessServer, path: string, spec: object, token?: string): Promise<Json> {
  const answer = await server.request('POST', path, { body: JSON.stringify({ spec }), ...(token ? { token } : {}) });
  return { code: answer.status, ...JSON.parse(answer.body.toString()) };
}

const authorization = '/apis/authorization.k8s.io/v1';
const pods = { verb: 'get', resource: 'pods', namespace: 'default' };

test('a user is told who they are', async () => {
  await using server = await start();
  const { code, status } = await ask(server, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, 'janes');
  assert.equal(code, 201);
  assert.deepEqual(status.userInfo, { username: 'jane', uid: '7', groups: ['staff', 'system:authenticated'] });
});

test('a user is told what they may do', async () => {
  await using server = await start();
  const path = `${authorization}/selfsubjectaccessreviews`;
  const may = async (resourceAttributes: object): Promise<object> =>
    (await ask(server, path, { resourceAttributes }, 'janes')).status;
  assert.deepEqual(await may(pods), { allowed: true });
  assert.deepEqual(await may({ ...pods, verb: 'delete' }), { allowed: false });
  assert.deepEqual(await may({ ...pods, resource: 'secrets' }), { allowed: false, denied: true });
});

test('an administrator may ask what another user may do', async () => {
  await using server = await start();
  const path = `${authorization}/subjectaccessreviews`;
  const may = async (spec: object): Promise<boolean> => (await ask(server, path, spec)).status.allowed;
  assert.equal(await may({ user: 'jane', resourceAttributes: pods }), true);
  assert.equal(await may({ user: 'joe', resourceAttributes: pods }), false);
  assert.equal(await may({ user: 'joe', groups: ['system:masters'], resourceAttributes: pods }), true);
  assert.equal(await may({ user: 'jane', nonResourceAttributes: { path: '/metrics', verb: 'get' } }), false);
});

test('rules are incomplete when an authorizer cannot list its own', async () => {
  await using server = await start();
  const path = `${authorization}/selfsubjectrulesreviews`;
  const { status } = await ask(server, path, { namespace: 'default' });
  assert.equal(status.incomplete, true);
  assert.deepEqual(status.resourceRules, [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
  assert.deepEqual((await ask(server, path, { namespace: 'default' }, 'janes')).status.resourceRules, []);
});

test("a token's user is found, for audiences that the server knows", async () => {
  await using server = await start();
  const review = async (spec: object): Promise<Json> =>
    (await ask(server, '/apis/authentication.k8s.io/v1/tokenreviews', spec)).status;
  const known = await review({ token: 'janes' });
  assert.equal(known.authenticated, true);
  assert.equal(known.user.username, 'jane');
  assert.deepEqual(known.audiences, ['https://kubernetes.default.svc']);
  assert.equal((await review({ token: 'janes', audiences: ['other'] })).authenticated, undefined);
  assert.equal((await review({ token: 'nobodys' })).authenticated, undefined);
});

test('nothing of a review is stored', async () => {
  await using server = await start();
  const before = await server.store.revision();
  await ask(server, `${authorization}/selfsubjectaccessreviews`, { resourceAttributes: pods });
  assert.equal(await server.store.revision(), before);
});

test('an answer is no table', async () => {
  await using server = await start();
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const body = JSON.stringify({ spec: { nonResourceAttributes: { path: '/', verb: 'get' } } });
  const answer = await server.request('POST', `${authorization}/selfsubjectaccessreviews`, {
    body,
    headers: { accept },
  });
  assert.equal(answer.status, 406);
});

test('a right that is limited to visible objects is reported for the names of those only', async () => {
  await using server = await start();
  const may = async (path: string, resourceAttributes: object): Promise<boolean> =>
    (await ask(server, `${authorization}/${path}`, { user: 'kim', resourceAttributes })).status.allowed;
  for (const [path, namespace] of [
    ['subjectaccessreviews', ''],
    ['subjectaccessreviews', 'default'],
    ['namespaces/default/localsubjectaccessreviews', 'default'],
  ] as const) {
    const projects = { group: 'example.com', resource: 'projects', namespace };
    assert.equal(await may(path, { ...projects, verb: 'list' }), false);
    assert.equal(await may(path, { ...projects, verb: 'get' }), false);
    assert.equal(await may(path, { ...projects, verb: 'get', name: 'other' }), false);
    assert.equal(await may(path, { ...projects, verb: 'get', name: 'seen' }), true);
  }
});

test('a user learns that a request would be accepted that is limited to visible objects', async () => {
  await using server = await start();
  const spec = { resourceAttributes: { verb: 'list', group: 'example.com', resource: 'projects' } };
  const { status } = await ask(server, `${authorization}/selfsubjectaccessreviews`, spec, 'kims');
  assert.deepEqual(status, { allowed: true, reason: 'limited' });
});

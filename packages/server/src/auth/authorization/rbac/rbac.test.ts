import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StaticToken } from '../../authenticate.ts';
import { privilegedGroup } from '../../authorize.ts';
import { configMap, configMaps, TestServer } from '../../../testing/test-server.ts';
import type { Data } from '../../../testing/test-server.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const tokens: readonly StaticToken[] = [
  { token: 'jane', user: 'jane', groups: ['readers'] },
  { token: 'joe', user: 'joe', groups: [] },
  { token: 'spoof', user: 'system:masters', groups: [] },
];

const start = (): Promise<TestServer> =>
  TestServer.start({ tokens, authorizers: (plane) => [privilegedGroup, new RbacAuthorizer(plane.policy)] });

const role = (name: string, rules: readonly object[], rest: object = {}): object => ({
  metadata: { name },
  rules,
  ...rest,
});
const binding = (name: string, kind: string, roleName: string, ...subjects: readonly object[]): object => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
  subjects,
});
const user = (name: string): object => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name });
const group = (name: string): object => ({ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name });
const inDefault = (resource: string): string => `${rbac}/namespaces/default/${resource}`;

/** Waits: policy changes take effect asynchronously. */
const eventually = (server: TestServer, status: number, method: string, path: string, token: string): Promise<void> =>
  server.until(`${method} ${path} is answered with ${status}`, async () => {
    return (await server.request(method, path, { token })).status === status;
  });

const review = async (server: TestServer, spec: object): Promise<Data> =>
  (await server.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).status;

describe('what a binding grants', () => {
  test('is what its role says, where the binding is, until it is gone', async () => {
    await using server = await start();
    const refused = await server.expect(403, 'GET', configMaps, { token: 'jane' });
    assert.equal(
      refused.message,
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
    await server.create(
      inDefault('roles'),
      role('r', [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }]),
    );
    await server.create(inDefault('rolebindings'), binding('b', 'Role', 'r', group('readers')));
    await eventually(server, 200, 'GET', configMaps, 'jane');
    await server.expect(403, 'GET', configMaps, { token: 'joe' });
    await server.expect(403, 'GET', '/api/v1/configmaps', { token: 'jane' });
    await server.expect(403, 'GET', '/api/v1/namespaces/kube-system/configmaps', { token: 'jane' });
    await server.expect(403, 'POST', configMaps, { token: 'jane', body: configMap('a') });
    await server.remove(`${inDefault('rolebindings')}/b`);
    await eventually(server, 403, 'GET', configMaps, 'jane');
  });

  test('is nothing when its role is missing, which is said', async () => {
    await using server = await start();
    await server.create(inDefault('rolebindings'), binding('b', 'Role', 'absent', user('jane')));
    await server.create(inDefault('rolebindings'), binding('c', 'ClusterRole', 'absent', user('jane')));
    await server.until('the reason is told', async () => {
      const { data } = await server.request('GET', configMaps, { token: 'jane' });
      return data.message.endsWith(
        'in the namespace "default": RBAC: [role.rbac.authorization.k8s.io "absent" not found, clusterrole.rbac.authorization.k8s.io "absent" not found]',
      );
    });
  });

  test('of a service account counts for the one of that namespace only', async () => {
    await using server = await start();
    await server.create(
      `${rbac}/clusterrolebindings`,
      binding('b', 'ClusterRole', 'view', { kind: 'ServiceAccount', name: 'robot', namespace: 'default' }),
    );
    const pods = { verb: 'get', resource: 'pods', namespace: 'x' };
    await server.until('it is bound', async () => {
      const { allowed } = await review(server, {
        user: 'system:serviceaccount:default:robot',
        resourceAttributes: pods,
      });
      return allowed;
    });
    for (const other of ['robot', 'system:serviceaccount:other:robot', 'system:serviceaccount:default:robot2']) {
      assert.equal((await review(server, { user: other, resourceAttributes: pods })).allowed, false, other);
    }
    const { reason } = await review(server, { user: 'system:serviceaccount:default:robot', resourceAttributes: pods });
    assert.equal(
      reason,
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "view" to ServiceAccount "robot/default"',
    );
  });
});

describe('attacks', () => {
  test('a user with the name of a group is not in it', async () => {
    await using server = await start();
    await server.expect(403, 'GET', configMaps, { token: 'spoof' });
    await server.create(`${rbac}/clusterrolebindings`, binding('b', 'ClusterRole', 'view', group('jane')));
    await server.expect(403, 'GET', configMaps, { token: 'jane' });
  });

  test('stars mean what Kubernetes says that they mean, and nothing else', async () => {
    await using server = await start();
    const rules = [
      { verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale', 'daemonsets/*'] },
      { verbs: ['get'], apiGroups: [''], resources: ['pods/*', 'pod*'] },
      { verbs: ['get', 'create', 'list'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', '*'] },
      { verbs: ['ge*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['get'], nonResourceURLs: ['/logs/*', '/a*'] },
    ];
    await server.create(`${rbac}/clusterroles`, role('r', rules));
    await server.create(`${rbac}/clusterrolebindings`, binding('b', 'ClusterRole', 'r', user('joe')));
    const may = async (asked: object): Promise<boolean> =>
      (await review(server, { user: 'joe', resourceAttributes: { verb: 'get', ...asked } })).allowed;
    await server.until('it is bound', () => may({ group: 'apps', resource: 'deployments', subresource: 'scale' }));
    const cases: [asked: object, expected: boolean][] = [
      [{ group: 'apps', resource: 'deployments' }, false],
      [{ group: 'apps', resource: 'deployments', subresource: 'status' }, false],
      [{ group: 'apps', resource: 'deployments', subresource: 'downscale' }, false],
      [{ group: 'apps', resource: 'daemonsets', subresource: 'status' }, false],
      [{ group: 'batch', resource: 'jobs', subresource: 'scale' }, false],
      [{ resource: 'pods', subresource: 'log' }, false],
      [{ resource: 'pods', subresource: '*' }, true],
      [{ resource: 'pods' }, false],
      [{ resource: 'secrets', name: 'a' }, true],
      [{ resource: 'secrets', name: 'b' }, false],
      [{ resource: 'secrets', name: '*' }, true],
      [{ resource: 'secrets' }, false],
      [{ resource: 'secrets', verb: 'create' }, false],
      [{ resource: 'secrets', verb: 'list' }, false],
      [{ resource: 'nodes' }, false],
    ];
    for (const [asked, expected] of cases) assert.equal(await may(asked), expected, JSON.stringify(asked));
    const mayPath = async (path: string): Promise<boolean> =>
      (await review(server, { user: 'joe', nonResourceAttributes: { verb: 'get', path } })).allowed;
    const paths: [path: string, expected: boolean][] = [
      ['/logs/', true],
      ['/logs/a/b', true],
      ['/logs', false],
      ['/abc', true],
      ['/b', false],
      ['/x/../logs/', false],
    ];
    for (const [path, expected] of paths) assert.equal(await mayPath(path), expected, path);
  });

  test('a list of one name needs the right to that name, and no more than that is listed', async () => {
    await using server = await start();
    await server.create(configMaps, configMap('a'));
    await server.create(configMaps, configMap('b'));
    const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] }];
    await server.create(inDefault('roles'), role('r', rules));
    await server.create(inDefault('rolebindings'), binding('b', 'Role', 'r', user('joe')));
    const one = `${configMaps}?fieldSelector=metadata.name%3Da`;
    await eventually(server, 200, 'GET', one, 'joe');
    const { items } = await server.expect(200, 'GET', one, { token: 'joe' });
    assert.deepEqual(
      items.map((each: Data) => each.metadata.name),
      ['a'],
    );
    for (const query of [
      '',
      '?fieldSelector=metadata.name%3Db',
      '?fieldSelector=metadata.name!%3Db',
      '?fieldSelector=metadata.name%3Db&fieldSelector=metadata.name%3Da',
      '?labelSelector=metadata.name%3Da',
    ]) {
      await server.expect(403, 'GET', `${configMaps}${query}`, { token: 'joe' });
    }
  });

  test('questions that look alike do not share their answers', async () => {
    await using server = await start();
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['y pods'] }];
    await server.create(`${rbac}/clusterroles`, role('r', rules));
    await server.create(`${rbac}/clusterrolebindings`, binding('b', 'ClusterRole', 'r', user('joe')));
    const may = async (asked: object): Promise<boolean> =>
      (await review(server, { user: 'joe', resourceAttributes: { verb: 'get', ...asked } })).allowed;
    await server.until('it is bound', () => may({ namespace: 'x', resource: 'y pods' }));
    assert.equal(await may({ namespace: 'x y', resource: 'pods' }), false);
    assert.equal(await may({ namespace: 'x', resource: 'y', subresource: 'pods' }), false);
    assert.equal(await may({ namespace: 'x', resource: 'y pods' }), true);
  });
});

test('rules that a user has are listed', async () => {
  await using server = await start();
  await server.create(inDefault('rolebindings'), binding('b', 'ClusterRole', 'absent', user('jane')));
  await server.create(
    `${rbac}/namespaces/default/roles`,
    role('r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]),
  );
  await server.create(inDefault('rolebindings'), binding('c', 'Role', 'r', user('jane')));
  await server.until('jane has them', async () => {
    const { status } = await server.expect(201, 'POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      token: 'jane',
      body: { spec: { namespace: 'default' } },
    });
    if (status.resourceRules.length < 3) return false;
    assert.equal(status.incomplete, false);
    assert.equal(status.evaluationError, 'clusterrole.rbac.authorization.k8s.io "absent" not found');
    assert.deepEqual(status.resourceRules.at(-1), { verbs: ['get'], apiGroups: [''], resources: ['pods'] });
    assert.ok(status.nonResourceRules.some((one: Data) => one.nonResourceURLs.includes('/version')));
    return true;
  });
});

test('who asks about ever new things is answered right, and costs no more memory than others', async () => {
  await using server = await start();
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }];
  await server.create(`${rbac}/clusterroles`, role('r', rules));
  await server.create(`${rbac}/clusterrolebindings`, binding('b', 'ClusterRole', 'r', user('joe')));
  await server.plane.policy.fresh();
  const authorizer = new RbacAuthorizer(server.plane.policy);
  const joe = { name: 'joe', uid: '', groups: [], extra: {} };
  const asked = { isResource: true, verb: 'get', group: '', version: 'v1', subresource: '', rest: '' } as const;
  const decide = (resource: string, namespace: string, name: string): string => {
    const judgement = authorizer.authorize(joe, { ...asked, resource, namespace, name });
    assert.ok(!(judgement instanceof Promise), 'it is known at once');
    return judgement.decision;
  };
  for (let at = 0; at < 30_000; at++) {
    assert.equal(decide('pods', `n${at}`, 'a'), 'allow');
    assert.equal(decide('pods', `n${at}`, 'b'), 'no opinion');
  }
  assert.equal(decide('secrets', 'n1', 'a'), 'no opinion');
});

/**
 * Using a permission for another purpose: one verb for another verb, a status for the rest of the object, a claim for the devices of
 * others, a name in the body for the name in the path.
 */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { mergePatch } from './testing/client.ts';
import type { Received } from './testing/client.ts';
import { Victim, mine, roles, theirs } from './testing/victim.ts';

let victim: Victim;
before(async () => void (victim = await Victim.start()));
after(() => victim[Symbol.asyncDispose]());
afterEach(() => victim.isUntouched());

const rbac = 'rbac.authorization.k8s.io';
const ownRoles = `${roles}/namespaces/mine/roles`;
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

describe('one verb is not another', () => {
  const only = async (verbs: readonly string[], test: () => Promise<number>): Promise<void> => {
    const resources = ['configmaps', 'leases', 'roles'];
    await victim.grant('nobody', [{ apiGroups: ['', 'coordination.k8s.io', rbac], resources, verbs }], 'mine');
    for (let attempt = 0; (await test()) === 403; attempt++) assert.ok(attempt < 500, 'the grant has no effect');
  };

  test('who may update and patch creates nothing by it: not by PUT, not by apply', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'trinket' } };
    const merge = { body, contentType: mergePatch };
    await only(
      ['get', 'update', 'patch'],
      async () => (await victim.nobody.request('PATCH', `${mine}/configmaps/trinket`, merge)).status,
    );
    const apply = (name: string) => ({
      body: { ...body, metadata: { name } },
      contentType: 'application/apply-patch+yaml',
    });
    assert.equal(
      (await victim.nobody.request('PATCH', `${mine}/configmaps/made?fieldManager=x`, apply('made'))).status,
      403,
    );
    assert.equal((await victim.tenant.request('GET', `${mine}/configmaps/made`)).status, 404);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/mine/leases';
    for (const [path, kind, apiVersion] of [
      [`${leases}/made`, 'Lease', 'coordination.k8s.io/v1'],
      [`${ownRoles}/made`, 'Role', `${rbac}/v1`],
    ] as const) {
      const { status } = await victim.nobody.request('PUT', path, {
        body: { apiVersion, kind, metadata: { name: 'made' } },
      });
      assert.equal(status, 403, path);
      assert.equal((await victim.administrator.request('GET', path)).status, 404);
    }
  });

  test('who may delete one deletes no collection, and who may create changes nothing', async () => {
    const again = { metadata: { name: 'trinket' }, data: { secret: 'replaced' } };
    await only(
      ['delete', 'create'],
      async () => (await victim.nobody.request('POST', `${mine}/configmaps`, { body: again })).status,
    );
    assert.equal((await victim.nobody.request('POST', `${mine}/configmaps`, { body: again })).status, 409);
    assert.equal((await victim.nobody.request('DELETE', `${mine}/configmaps`)).status, 403);
    assert.equal((await victim.nobody.request('DELETE', `${mine}/configmaps/`)).status, 403);
    assert.deepEqual((await victim.tenant.get(`${mine}/configmaps/trinket`)).data, { secret: 'none' });
  });
});

test('who may look at a pod’s exec, attach and portforward runs nothing by them', async () => {
  const resources = ['pods/exec', 'pods/attach', 'pods/portforward'];
  await victim.tenant.create(`${mine}/pods`, {
    metadata: { name: 'run' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  await victim.grant('nobody', [{ apiGroups: [''], resources: [...resources, 'configmaps'], verbs: ['get'] }], 'mine');
  const granted = (): Promise<Received> => victim.nobody.request('GET', `${mine}/configmaps/trinket`);
  for (let attempt = 0; (await granted()).status !== 200; attempt++) assert.ok(attempt < 500);
  for (const resource of resources) {
    const path = `${mine}/pods/run/${resource.slice(5)}?command=sh&container=c&stdout=true`;
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    assert.equal((await victim.nobody.request('GET', path)).status, 403, resource);
    assert.equal((await victim.nobody.request('GET', path, { headers })).status, 403, resource);
    // Allowed: there is no node that it could run on.
    assert.equal((await victim.tenant.request('GET', path)).status, 400, resource);
  }
});

describe('devices', () => {
  const claims = '/apis/resource.k8s.io/v1/namespaces/mine/resourceclaims';
  const spec = (adminAccess: boolean) => ({
    devices: {
      requests: [{ name: 'r', exactly: { deviceClassName: 'x.example.com', ...(adminAccess ? { adminAccess } : {}) } }],
    },
  });

  test('are not accessed as their administrator from a namespace without the label, by any user', async () => {
    for (const client of [victim.tenant, victim.administrator]) {
      const claim = await client.request('POST', claims, { body: { metadata: { name: 'c' }, spec: spec(true) } });
      const template = await client.request('POST', claims.replace(/s$/, 'templates'), {
        body: { metadata: { name: 'c' }, spec: { spec: spec(true) } },
      });
      for (const { status, data } of [claim, template]) {
        assert.equal(status, 422);
        assert.match(data.message, /requires the `resource\.kubernetes\.io\/admin-access: true` label/);
      }
    }
  });

  test('are not given to oneself by the status of a claim', async () => {
    await victim.tenant.create(claims, { metadata: { name: 'own' }, spec: spec(false) });
    await victim.grant(
      'nobody',
      [{ apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/status'], verbs: ['*'] }],
      'mine',
    );
    const results = [{ request: 'r', driver: 'x.example.com', pool: 'p', device: 'd' }];
    const patch = { body: { status: { allocation: { devices: { results } } } }, contentType: mergePatch };
    let received = await victim.nobody.request('PATCH', `${claims}/own/status`, patch);
    for (let attempt = 0; received.status === 403 && attempt < 500; attempt++) {
      received = await victim.nobody.request('PATCH', `${claims}/own/status`, patch);
    }
    assert.equal(received.status, 422, received.text);
    assert.match(received.data.message, /requires resource="resourceclaims\/binding", verb="patch" permission/);
    assert.equal((await victim.tenant.get(`${claims}/own`)).status?.allocation, undefined);
    // The scheduler may.
    await victim.administrator.expect(200, 'PATCH', `${claims}/own/status`, patch);
    const devices = [{ driver: 'x.example.com', pool: 'p', device: 'd', data: { forged: 'yes' } }];
    const said = await victim.nobody.request('PATCH', `${claims}/own/status`, {
      body: { status: { devices } },
      contentType: mergePatch,
    });
    assert.equal(said.status, 422, said.text);
    assert.match(
      said.data.message,
      /requires resource="resourceclaims\/driver", verb="\[arbitrary-node:patch\]" permission/,
    );
  });
});

describe('names inside of what is sent', () => {
  test('are those of the path, for every subresource that acts on another object', async () => {
    const { tenant, administrator } = victim;
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    for (const name of ['one', 'two']) await tenant.create(`${mine}/pods`, { metadata: { name }, spec });
    for (const name of ['one', 'two']) await administrator.create(`${mine}/serviceaccounts`, { metadata: { name } });
    await administrator.create(`${theirs}/pods`, { metadata: { name: 'one' }, spec });
    const target = { kind: 'Node', name: 'n' };
    for (const metadata of [{ name: 'two' }, { name: 'one', namespace: 'theirs' }]) {
      for (const [path, body] of [
        [`${mine}/pods/one/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata }],
        [`${mine}/pods/one/binding`, { metadata, target }],
        [`${mine}/serviceaccounts/one/token`, { metadata, spec: {} }],
      ] as const) {
        const { status, text } = await administrator.request('POST', path, { body });
        assert.ok(status === 400 || status === 422, `${path} ${text}`);
      }
    }
    const elsewhere = { metadata: { name: 'one', namespace: 'theirs' }, target };
    assert.equal((await administrator.request('POST', `${mine}/bindings`, { body: elsewhere })).status, 400);
    for (const path of [`${mine}/pods/two`, `${theirs}/pods/one`]) {
      const { metadata, spec } = await administrator.get(path);
      assert.deepEqual([metadata.deletionTimestamp, spec.nodeName], [undefined, undefined], path);
    }
  });
});

test('a definition does not take the place of a built-in kind, nor an APIService that of a group', async () => {
  const { administrator } = victim;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const { status } = await administrator.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      metadata: { name: `roles.${rbac}`, annotations: { 'api-approved.kubernetes.io': 'unapproved' } },
      spec: {
        group: rbac,
        scope: 'Namespaced',
        names: { plural: 'roles', kind: 'Role' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  });
  assert.equal(status, 422);
  const service = { namespace: 'mine', name: 'x' };
  const body = {
    metadata: { name: `v1.${rbac}` },
    spec: { group: rbac, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service },
  };
  const taken = await administrator.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', { body });
  assert.equal(taken.status, 409);
  const role = { metadata: { name: 'r' }, rules: [everything] };
  assert.equal((await victim.tenant.request('POST', ownRoles, { body: role })).status, 403);
});

describe('parts of objects that are somebody else’s', () => {
  test('a namespace’s status and finalizers are not the tenant’s', async () => {
    for (const [method, path] of [
      ['PUT', `${mine}/finalize`],
      ['PUT', `${mine}/status`],
      ['PATCH', `${mine}/status`],
      ['PATCH', mine],
      ['DELETE', mine],
    ] as const) {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' }, spec: { finalizers: [] } };
      const contentType = method === 'PATCH' ? mergePatch : 'application/json';
      const { status, text } = await victim.tenant.request(method, path, { body, contentType });
      assert.equal(status, 403, `${method} ${path}: ${text}`);
    }
  });

  test('who may write a status writes nothing else with it', async () => {
    const apps = '/apis/apps/v1/namespaces/mine/deployments';
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'good' }] } };
    await victim.tenant.create(apps, {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: labels }, template },
    });
    await victim.grant(
      'nobody',
      [{ apiGroups: ['apps'], resources: ['deployments/status'], verbs: ['patch', 'update'] }],
      'mine',
    );
    const sent = {
      body: {
        metadata: { labels: { stolen: 'yes' }, ownerReferences: [] },
        spec: { replicas: 9, template: { spec: { containers: [{ name: 'c', image: 'evil' }] } } },
        status: { replicas: 1 },
      },
      contentType: 'application/strategic-merge-patch+json',
    };
    let answer;
    for (let attempt = 0; attempt < 500; attempt++) {
      answer = await victim.nobody.request('PATCH', `${apps}/d/status`, sent);
      if (answer.status !== 403) break;
    }
    assert.equal(answer?.status, 200, answer?.text ?? '');
    const { spec, status } = await victim.tenant.get(`${apps}/d`);
    assert.deepEqual([spec.replicas, spec.template.spec.containers[0].image, status.replicas], [1, 'good', 1]);
    assert.equal((await victim.nobody.request('PATCH', `${apps}/d`, sent)).status, 403);
  });

  test('pods are bound, evicted and entered by who has the right for the subresource alone', async () => {
    await victim.tenant.create(`${mine}/pods`, {
      metadata: { name: 'held' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await victim.grant('nobody', [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }], 'mine');
    const path = `${mine}/pods/held`;
    for (let attempt = 0; (await victim.nobody.request('GET', path)).status !== 200; attempt++)
      assert.ok(attempt < 500);
    for (const [method, rest] of [
      ['POST', 'binding'],
      ['POST', 'eviction'],
      ['GET', 'exec'],
      ['POST', 'exec'],
      ['GET', 'log'],
      ['GET', 'proxy/'],
      ['PATCH', 'ephemeralcontainers'],
      ['PATCH', 'resize'],
    ] as const) {
      const sent =
        method === 'GET' ? {} : { body: {}, contentType: method === 'PATCH' ? mergePatch : 'application/json' };
      assert.equal((await victim.nobody.request(method, `${path}/${rest}`, sent)).status, 403, rest);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Revision } from '@hangar/store';
import { Auditor } from '../../audit/auditor.ts';
import { AuditPolicy } from '../../audit/policy.ts';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import type { Data, Sent } from '../../testing/test-server.ts';
import { all, maps, told, add, merge } from './testing.ts';

describe('who may use it', () => {
  const tokens = [
    { token: 'user', user: 'user', groups: ['developers'] },
    { token: 'other', user: 'other', groups: ['system:masters'] },
  ];

  test('the masters of the management plane, and nobody else', async () => {
    await using server = await TenancyServer.open({ tokens });
    await server.make('a');
    await server.expect(200, 'GET', maps, { token: 'other' });
    const unknown = async (sent: Sent): Promise<[Data, Data]> => {
      const [one, nowhere] = await Promise.all([
        server.request('GET', maps, sent),
        server.request('GET', `${planePath('nobodys')}${configMaps}`, sent),
      ]);
      assert.equal(one.text, nowhere.text);
      assert.equal(one.status, nowhere.status);
      return [one.status, one.data];
    };
    assert.equal((await unknown({ token: 'user' }))[0], 404);
    assert.equal((await unknown({ token: null }))[0], 401);
    assert.equal((await unknown({ token: 'wrong' }))[0], 401);
    const as = (user: string, group?: string) => ({
      headers: { 'impersonate-user': user, ...(group ? { 'impersonate-group': group } : {}) },
    });
    await server.expect(404, 'GET', maps, as('somebody'));
    await server.expect(200, 'GET', maps, as('somebody', 'system:masters'));
  });

  test('what they ask is written into the audit log, as they asked', async () => {
    const lines: string[] = [];
    const sink = { write: (text: string) => void lines.push(text), close: () => Promise.resolve() };
    const policy = AuditPolicy.read('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]');
    const auditor = new Auditor({ policy, sinks: [sink], clock: systemClock });
    await using server = await TenancyServer.open({ auditor });
    await server.expect(200, 'GET', maps);
    await server.expect(405, 'DELETE', maps);
    await server.expect(401, 'GET', maps, { token: 'wrong' });
    const done = lines.map((line) => JSON.parse(line)).filter(({ stage }) => stage === 'ResponseComplete');
    assert.deepEqual(
      done.map(({ verb, requestURI, user, responseStatus }) => [verb, requestURI, user.username, responseStatus.code]),
      [
        ['list', maps, 'admin', 200],
        ['deletecollection', maps, 'admin', 405],
        ['get', maps, undefined, 401],
      ],
    );
  });

  test('a tenant’s own administrator has nothing of it', async () => {
    await using server = await TenancyServer.open();
    const a = await server.make('a');
    const { token } = (
      await server
        .expect(201, 'POST', `${a}/api/v1/namespaces/default/serviceaccounts`, {
          body: { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'x' } },
        })
        .then(() =>
          server.expect(201, 'POST', `${a}/api/v1/namespaces/default/serviceaccounts/x/token`, {
            body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} },
          }),
        )
    ).status;
    await server.expect(401, 'GET', maps, { token });
    // At the host name of a tenant, other tenants are not visible.
    await merge(server, `${tenants}/a`, { spec: { hosts: ['a.example.com'] } });
    await server.expect(404, 'GET', maps, { headers: { host: 'a.example.com' } });
  });

  test('anything but a list and a watch is refused', async () => {
    await using server = await TenancyServer.open();
    const before = await server.store.revision();
    for (const [method, target] of [
      ['POST', maps],
      ['DELETE', maps],
      ['GET', `${maps}/a`],
      ['PUT', `${maps}/a`],
      ['PATCH', `${maps}/a`],
      ['DELETE', `${maps}/a`],
      ['GET', `${all}/api/v1/namespaces/default`],
      ['GET', `${all}/api/v1/watch/namespaces/default/configmaps/a`],
      ['GET', `${all}/apis/example.com/v1/widgets/a`],
      ['POST', `${all}/apis/example.com/v1/widgets`],
    ] as const) {
      const refused = await server.expect(405, method, target, method === 'GET' ? {} : { body: configMap('a') });
      assert.match(refused.message, /supports list and watch only/, `${method} ${target}`);
    }
    for (const path of ['/version', '/readyz', '/api', '/apis', '/openapi/v2', '/', '/metrics']) {
      await server.expect(404, 'GET', `${all}${path}`);
    }
    assert.equal(await server.store.revision(), before);
  });
});

describe('for controllers of the same process', () => {
  const name = { group: '', version: 'v1', resource: 'configmaps' };

  test('lists and watches without HTTP', async () => {
    await using server = await TenancyServer.open();
    const [a] = [await server.make('a')];
    await add(server, a, 'one');
    const { wildcard } = server.tenancy;
    const list = await wildcard.list(name, { namespace: 'default' });
    const seen: string[] = [];
    for await (const page of list.pages)
      for (const { cluster, object } of page) seen.push(`${cluster} ${told(object())}`);
    assert.deepEqual(seen, ['a a/one']);
    const watch = wildcard.watch(name, list.revision, { namespace: 'default' });
    await merge(server, `${a}${configMaps}/one`, { data: { x: 'y' } });
    await server.expect(200, 'DELETE', `${a}${configMaps}/one`);
    const batches = [await watch.next(), await watch.next()];
    assert.deepEqual(
      batches.flatMap((batch) => batch!.events.map(({ type, cluster, object }) => [type, cluster, object().data])),
      [
        ['MODIFIED', 'a', { x: 'y' }],
        ['DELETED', 'a', { x: 'y' }],
      ],
    );
    const [deleted] = batches[1]!.events;
    assert.equal(deleted!.object().metadata.resourceVersion, String(batches[1]!.revision));
    watch.requestProgress();
    const mark = await watch.next();
    assert.deepEqual(mark!.events, []);
    watch.close();
    assert.equal(await watch.next(), undefined);
    assert.throws(() => wildcard.watch({ ...name, resource: 'nobodys' }, 1 as Revision), { code: 'NotFound' });
    await assert.rejects(wildcard.list({ ...name, group: '.hangar' }), { code: 'NotFound' });
  });

  test('a watch that cannot go on says so, once and for all', async () => {
    await using server = await TenancyServer.open();
    await add(server, '', 'one');
    const watch = server.tenancy.wildcard.watch(name, 1 as Revision);
    await server.store.compact(await server.store.revision());
    await assert.rejects(watch.next(), { code: 'Compacted' });
    await assert.rejects(watch.next(), { code: 'Compacted' });
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planePath, tenants, TenancyServer } from '../testing/tenancy-server.ts';

const stalls = { reason: 'EventLoopStalls', message: '3 requests blocked the server' };
const hourMs = 3_600_000;
const namespaces = (tenant: string): string => `${planePath(tenant)}/api/v1/namespaces`;

describe('a quarantined tenant', () => {
  test('answers nothing, says why and whom to ask; its neighbours answer; watches end', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    await server.make('other');
    const watch = await server.watch(`${namespaces('demo')}?watch=true&resourceVersion=0`);
    assert.equal(await server.tenancy.quarantines.put('demo', { ...stalls, durationMs: hourMs }), true);
    await watch.ended();
    const { until } = (await server.expect(200, 'GET', `${tenants}/demo`)).status.quarantine;
    for (const [method, path] of [
      ['GET', '/api/v1/namespaces'],
      ['GET', '/healthz'],
      ['POST', '/api/v1/namespaces'],
    ] as const) {
      const refused = await server.expect(503, method, planePath('demo') + path, { body: {} });
      assert.equal(refused.reason, 'ServiceUnavailable');
      assert.equal(
        refused.message,
        `control plane "demo" is quarantined until ${until}: ${stalls.message}. ` +
          'A platform administrator can end the quarantine with "hangar resume demo".',
      );
      assert.deepEqual(refused.details.causes, [stalls]);
      assert.equal(refused.details.retryAfterSeconds, undefined);
    }
    await server.expect(200, 'GET', namespaces('other'));
  });

  test('names no user and no object to clients that are not authenticated', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo', { hosts: ['demo.example.com'] });
    await server.expect(201, 'POST', `${planePath('demo')}/api/v1/namespaces/kube-system/secrets`, {
      body: {
        metadata: { name: 'bootstrap-token-abcdef' },
        type: 'bootstrap.kubernetes.io/token',
        stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef' },
      },
    });
    const secret = { reason: 'EventLoopStalls', message: 'last: patch /api/v1/namespaces/treasure by "ada"' };
    await server.tenancy.quarantines.put('demo', { ...secret, durationMs: hourMs });
    const headers = { host: 'demo.example.com' };
    for (const [path, token] of [
      ['/healthz', null],
      ['/livez?verbose', null],
      ['/readyz', null],
      ['/api/v1/namespaces', 'abcdef.wrongwrongwrong1'],
    ] as const) {
      const { status, data } = await server.request('GET', path, { headers, token });
      assert.equal(status, 503);
      assert.equal(data.message, 'control plane "demo" is quarantined');
      assert.deepEqual(data.details, {});
    }
  });

  test('answers again when an administrator removes the quarantine', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const resumed: string[] = [];
    server.tenancy.quarantines.onResumed((path) => resumed.push(path));
    await server.tenancy.quarantines.put('demo', { ...stalls, durationMs: hourMs });
    await server.expect(503, 'GET', namespaces('demo'));
    assert.deepEqual(resumed, []);
    await server.expect(200, 'PATCH', `${tenants}/demo/status`, {
      body: { status: { quarantine: null } },
      contentType: 'application/merge-patch+json',
    });
    await server.expect(200, 'GET', namespaces('demo'));
    assert.deepEqual(resumed, ['demo']);
  });

  test('answers again when the quarantine expires', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    server.tenancy.quarantines.onResumed(() => assert.fail('no administrator removed the quarantine'));
    const watch = await server.watch(`${tenants}?watch=true&fieldSelector=metadata.name=demo`);
    await server.tenancy.quarantines.put('demo', { ...stalls, durationMs: 1 });
    for (let wasQuarantined = false; ;) {
      const { object } = (await watch.events(1))[0]!;
      if (wasQuarantined && !object.status.quarantine) break;
      wasQuarantined = object.status.quarantine !== undefined;
    }
    await server.expect(200, 'GET', namespaces('demo'));
  });

  test('stays quarantined until the later of two ends, and keeps what else its status says', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const quarantined = async () => (await server.expect(200, 'GET', `${tenants}/demo`)).status;
    await server.tenancy.quarantines.put('demo', { ...stalls, durationMs: 2 * hourMs });
    const first = await quarantined();
    await server.tenancy.quarantines.put('demo', { ...stalls, durationMs: hourMs });
    assert.deepEqual(await quarantined(), first);
    assert.match(first.url, /\/clusters\/demo\/control-plane$/);
  });

  test('is none when there is no such tenant', async () => {
    await using server = await TenancyServer.open();
    assert.equal(await server.tenancy.quarantines.put('demo', { ...stalls, durationMs: 1 }), false);
  });
});

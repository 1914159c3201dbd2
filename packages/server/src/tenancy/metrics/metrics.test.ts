import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';

test('the server counts what is asked of tenants, of few by their names', async () => {
  await using server = await TenancyServer.open({ tenancy: { topTenantsMax: 1 } });
  const [a, b] = [await server.make('a'), await server.make('b')];
  await server.expect(201, 'POST', `${a}${configMaps}`, { body: configMap('x') });
  await server.expect(404, 'GET', `${a}${configMaps}/none`);
  await server.expect(200, 'GET', `${b}${configMaps}`);
  await server.expect(404, 'GET', `/clusters/nobodys/control-plane${configMaps}`);
  const watch = await server.watch(`${b}${configMaps}?watch=true`);
  const text = server.tenancy.metricsText();
  for (const line of [
    'hangar_tenants 2',
    'hangar_tenants_open 2',
    'hangar_tenant_requests_total{tenant="a",code_class="2xx"} 1',
    'hangar_tenant_requests_total{tenant="a",code_class="4xx"} 1',
    'hangar_tenant_requests_total{tenant="other",code_class="2xx"} 2',
    'hangar_tenant_request_duration_seconds_count{tenant="other"} 1',
    'hangar_tenant_watches{tenant="other"} 1',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
  assert.doesNotMatch(text, /nobodys|tenant="b"/);
  watch.close();
});

test('a tenant’s own metrics are of its requests, and of nobody and nothing else', async () => {
  await using server = await TenancyServer.open();
  const [a, b] = [await server.make('demo-a'), await server.make('demo-b')];
  await server.expect(201, 'POST', `${a}${configMaps}`, { body: configMap('x') });
  await server.expect(200, 'GET', `${b}/api/v1/secrets`);
  const { text } = await server.request('GET', `${a}/metrics`);
  assert.match(
    text,
    /apiserver_request_total\{code="201",.*resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"\} 1/,
  );
  assert.doesNotMatch(text, /secrets|demo-b|process_|nodejs_|etcd_|hangar_tenant/);
  const ofRoot = await server.request('GET', '/metrics');
  assert.match(ofRoot.text, /process_resident_memory_bytes/);
});

const createdCount = async (server: TenancyServer, path: string): Promise<number> => {
  const { text } = await server.request('GET', `${path}/metrics`);
  const line = /^apiserver_request_total\{.*resource="configmaps".*verb="POST".*\} (\d+)$/m.exec(text);
  return Number(line?.[1] ?? 0);
};

/** Closes the tenant, as the idle timeout does. */
async function closeTenant(server: TenancyServer, name: string): Promise<void> {
  const suspend = (suspension: string | null) =>
    server.expect(200, 'PATCH', `${tenants}/${name}`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { suspension } },
    });
  const openCount = server.tenancy.open.size;
  await suspend('Offline');
  assert.equal(server.tenancy.open.size, openCount - 1);
  await suspend(null);
}

test('the counters of a tenant go on after it was closed and opened again', async () => {
  await using server = await TenancyServer.open();
  const [a, b] = [await server.make('demo-a'), await server.make('demo-b')];
  for (const name of ['x', 'y']) await server.expect(201, 'POST', `${a}${configMaps}`, { body: configMap(name) });
  await server.expect(201, 'POST', `${b}${configMaps}`, { body: configMap('x') });
  assert.equal(await createdCount(server, a), 2);
  await closeTenant(server, 'demo-a');
  assert.equal(await createdCount(server, a), 2);
  await server.expect(201, 'POST', `${a}${configMaps}`, { body: configMap('z') });
  assert.equal(await createdCount(server, a), 3);
  assert.equal(await createdCount(server, b), 1);
});

test('a tenant that is destroyed and created again does not see the counters of the former', async () => {
  await using server = await TenancyServer.open();
  const path = await server.make('demo-a', { deletionPolicy: 'Destroy' });
  await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('x') });
  await server.expect(200, 'DELETE', `${tenants}/demo-a`);
  await server.make('demo-a');
  assert.equal(await createdCount(server, path), 0);
});

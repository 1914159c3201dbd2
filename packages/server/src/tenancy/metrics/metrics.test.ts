import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenancyServer } from '../../testing/tenancy-server.ts';
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
    /apiserver_request_total\{verb="CREATE",group="",version="v1",resource="configmaps".*code="201"\} 1/,
  );
  assert.doesNotMatch(text, /secrets|demo-b|process_|nodejs_|etcd_|hangar_tenant/);
  const ofRoot = await server.request('GET', '/metrics');
  assert.match(ofRoot.text, /process_resident_memory_bytes/);
});

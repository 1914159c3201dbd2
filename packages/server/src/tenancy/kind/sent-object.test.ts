import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenants, TenancyServer } from '../../testing/tenancy-server.ts';

test('a request for a kubeconfig that is no JSON object is refused with 400', async () => {
  await using server = await TenancyServer.open();
  await server.make('demo');
  for (const body of ['{', 'nonsense', '[]', 'null', '"a"', '{"spec":7}', '['.repeat(20_000)]) {
    const { status, data } = await server.request('POST', `${tenants}/demo/kubeconfig`, { body });
    assert.deepEqual([status, data?.reason], [400, 'BadRequest'], body.slice(0, 20));
  }
  for (const body of ['{}', '{"spec":{"user":"alice"}}']) {
    await server.expect(201, 'POST', `${tenants}/demo/kubeconfig`, { body });
  }
});

/** A server outside of virtual time creates the keys of tenants on the thread pool. */

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';

/** Three keys of the tenant, and one of the user of its kubeconfig. */
const keysOfTenant = 4;

for (const isPooled of [true, false]) {
  const place = isPooled ? 'the thread pool' : 'the event loop';
  test(`keys of a tenant and of its kubeconfig are made on ${place} when isPooled is ${isPooled}`, async (context) => {
    const generate = context.mock.method(crypto, 'generateKeyPairSync');
    syncBuiltinESMExports();
    context.after(() => {
      generate.mock.restore();
      syncBuiltinESMExports();
    });
    await using server = await TenancyServer.open({ tenancy: { isPooled } });
    generate.mock.resetCalls(); // the server itself has a key
    await server.make('demo');
    const { status } = await server.expect(201, 'POST', `${tenants}/demo/kubeconfig`);
    assert.match(status.kubeconfig, /client-key-data: \S+/);
    assert.equal(generate.mock.callCount(), isPooled ? 0 : keysOfTenant);
  });
}

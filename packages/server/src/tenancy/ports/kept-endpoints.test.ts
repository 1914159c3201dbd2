/** The service `kubernetes` of tenants with nodes: on one server and on several that share a store. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { world } from '../../http/testing/test-port.ts';
import { planePath, tenants } from '../../testing/tenancy-server.ts';
import { PortedServer, testPorts } from './testing.ts';
import { ServerAddresses, soleAddress } from './server-addresses.ts';

const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';
const endpoints = '/api/v1/namespaces/default/endpoints/kubernetes';
const service = '/api/v1/namespaces/default/services/kubernetes';

/** Retries until the assertion holds. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (const endMs = Date.now() + 20_000; ;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > endMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

interface Seen {
  readonly addresses: string[];
  readonly port: number;
}

async function seen({ server }: PortedServer, name: string): Promise<Seen> {
  const get = (path: string) => server.expect(200, 'GET', `${planePath(name)}${path}`);
  const [slice, legacy, { spec }] = [await get(slices), await get(endpoints), await get(service)];
  const addresses = slice.endpoints.flatMap((one: { addresses: string[] }) => one.addresses);
  const subset = legacy.subsets[0];
  assert.deepEqual(
    subset.addresses.map(({ ip }: { ip: string }) => ip),
    addresses,
  );
  const [port] = [slice.ports[0].port];
  assert.equal(subset.ports[0].port, port);
  assert.equal(spec.ports[0].targetPort, port);
  assert.equal(spec.clusterIP, '10.0.0.1');
  return { addresses, port };
}

describe('the service kubernetes of a tenant with nodes', () => {
  test('leads to the port of the tenant, and follows when nodes are enabled later', async () => {
    const advertised = soleAddress('10.0.0.1', '192.0.2.7');
    await using server = await PortedServer.open(testPorts(), { tenancy: { advertised } });
    const { port } = await server.make('red');
    assert.deepEqual(await seen(server, 'red'), { addresses: ['192.0.2.7'], port });
    await server.server.make('blue');
    assert.deepEqual(await seen(server, 'blue'), { addresses: ['127.0.0.1'], port: 1 });
    const body = { spec: { nodes: { enabled: true } } };
    const contentType = 'application/merge-patch+json';
    await server.server.expect(200, 'PATCH', `${tenants}/blue`, { body, contentType });
    assert.deepEqual(await seen(server, 'blue'), { addresses: ['192.0.2.7'], port: (await server.of('blue')).port });
  });

  test('is restored when a user of the tenant deleted or changed it, at the latest when the tenant is opened', async () => {
    const advertised = soleAddress('10.0.0.1', '192.0.2.7');
    await using server = await PortedServer.open(testPorts(), { tenancy: { advertised } });
    const { port } = await server.make('red');
    const red = planePath('red');
    await server.server.expect(200, 'DELETE', `${red}${slices}`);
    const contentType = 'application/merge-patch+json';
    await server.server.expect(200, 'PATCH', `${red}${endpoints}`, { body: { subsets: null }, contentType });
    server.server.tenancy.open.drop('red');
    assert.deepEqual(await seen(server, 'red'), { addresses: ['192.0.2.7'], port });
  });

  test('has the addresses of all servers that run, and loses that of a server that stops', async () => {
    await using store = await disposableStore();
    const range = testPorts();
    const addressesOf = (address: string) => {
      const options = { ...world, store: store.store, storePrefix: '/registry', serviceAddress: '10.0.0.1', address };
      return new ServerAddresses({ ...options, clock: systemClock, onError: (error) => assert.fail(error) });
    };
    const [a, b] = [addressesOf('192.0.2.1'), addressesOf('192.0.2.2')];
    await a.start();
    await using first = await PortedServer.open(range, { store: store.store, tenancy: { advertised: a } });
    const { port } = await first.make('red');
    assert.deepEqual(await seen(first, 'red'), { addresses: ['192.0.2.1'], port });
    await b.start();
    await eventually(async () =>
      assert.deepEqual(await seen(first, 'red'), { addresses: ['192.0.2.1', '192.0.2.2'], port }),
    );
    await b.close();
    await eventually(async () => assert.deepEqual(await seen(first, 'red'), { addresses: ['192.0.2.1'], port }));
    await a.close();
  });
});

async function disposableStore(): Promise<AsyncDisposable & { readonly store: Store }> {
  const store = await openMemoryStore();
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestServer } from '../testing/test-server.ts';

const services = '/api/v1/namespaces/default/services';

test('a service leads to a ready endpoint, else to its cluster address, or to the name that it stands for', async () => {
  await using server = await TestServer.start();
  const { plane } = server;
  const ports = [
    { name: 'web', port: 80 },
    { name: 'https', port: 443 },
  ];
  const { spec } = await server.create(services, { metadata: { name: 'plain' }, spec: { ports } });
  await server.create(services, { metadata: { name: 'headless' }, spec: { clusterIP: 'None', ports } });
  await server.create(services, {
    metadata: { name: 'named' },
    spec: { type: 'ExternalName', externalName: 'hook.example.com' },
  });
  for (const name of ['sliced', 'old']) await server.create(services, { metadata: { name }, spec: { ports } });
  await server.create('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'sliced-1', labels: { 'kubernetes.io/service-name': 'sliced' } },
    addressType: 'IPv4',
    ports: [
      { name: 'web', port: 8080 },
      { name: 'https', port: 8443 },
    ],
    endpoints: [
      { addresses: ['10.9.0.1'], conditions: { ready: false } },
      { addresses: ['10.9.0.2'], conditions: { ready: true } },
    ],
  });
  await server.create('/api/v1/namespaces/default/endpoints', {
    metadata: { name: 'old' },
    subsets: [{ addresses: [{ ip: '10.9.0.3' }], ports: [{ name: 'https', port: 9443 }] }],
  });
  const found = async (name: string, port?: number): Promise<string> => {
    const { host, port: at, serverName } = await plane.services.resolve({ namespace: 'default', name, port });
    assert.equal(serverName, `${name}.default.svc`);
    return `${host}:${at}`;
  };
  assert.equal(await found('plain'), `${spec.clusterIP}:443`);
  assert.equal(await found('named', 8443), 'hook.example.com:8443');
  assert.equal(await found('sliced'), '10.9.0.2:8443');
  assert.equal(await found('sliced', 80), '10.9.0.2:8080');
  assert.equal(await found('old'), '10.9.0.3:9443');
  await assert.rejects(found('none'), /service "none" not found/);
  await assert.rejects(found('plain', 444), /no service port 444 found for service "plain"/);
  await assert.rejects(found('headless'), /no endpoints available for service "headless"/);
});

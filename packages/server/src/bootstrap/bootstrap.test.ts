import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestServer } from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';
import { bootstrap } from './bootstrap.ts';

describe('what a control plane is born with', () => {
  test('is there once, however often it starts', async () => {
    await using server = await TestServer.start();
    const names = (await server.get('/api/v1/namespaces')).items.map((one: Data) => one.metadata.name);
    assert.deepEqual(names, ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    const service = await server.get('/api/v1/namespaces/default/services/kubernetes');
    assert.equal(service.spec.clusterIP, '10.0.0.1');
    assert.equal((await server.get('/apis/scheduling.k8s.io/v1/priorityclasses')).items.length, 2);
    const revision = await server.store.revision();
    const same = {
      serviceAddress: '10.0.0.1',
      serviceCidr: '10.0.0.0/24',
      endpoint: { address: '127.0.0.1', port: 6443 },
    };
    await bootstrap(server.plane, same);
    assert.equal(await server.store.revision(), revision, 'nothing to do');
    await bootstrap(server.plane, { ...same, endpoint: { address: '127.0.0.1', port: 7443 } });
    const slice = await server.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
    assert.equal(slice.ports[0].port, 7443, 'what describes the server follows it');
    const again = await server.get('/api/v1/namespaces/default/services/kubernetes');
    assert.deepEqual([again.metadata.uid, again.spec.clusterIP], [service.metadata.uid, '10.0.0.1']);
  });

  test('is there once when several servers start at the same time', async () => {
    await using server = await TestServer.start();
    const options = {
      serviceAddress: '10.0.0.1',
      serviceCidr: '10.0.0.0/24',
      endpoint: { address: '127.0.0.1', port: 1 },
    };
    await Promise.all([1, 2, 3, 4].map(() => bootstrap(server.plane, options)));
    assert.equal((await server.get('/api/v1/namespaces')).items.length, 4);
  });

  test('what users changed of the rest stays', async () => {
    await using server = await TestServer.start();
    await server.merge('/api/v1/namespaces/default', { metadata: { labels: { mine: 'yes' } } });
    await bootstrap(server.plane, {
      serviceAddress: '10.0.0.1',
      serviceCidr: '10.0.0.0/24',
      endpoint: { address: '127.0.0.1', port: 6443 },
    });
    assert.equal((await server.get('/api/v1/namespaces/default')).metadata.labels.mine, 'yes');
  });
});

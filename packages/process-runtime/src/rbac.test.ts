import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { find, RestClient } from '@hangar/client';
import { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { Logger, systemClock } from '@hangar/core';
import { Rights, startTestCluster } from '@hangar/testkit';
import { programsInPath } from './images/resolver.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { processRuntimeRules } from './rbac.ts';
import { startProcessRuntime } from './runtime.ts';
import { storageClassName } from './storage/claims.ts';
import { nodeName, shell, until } from './testing/ground.ts';
import { clients, get, kubeletPort, signServingRequest } from './testing/kubelet-client.ts';

const user = 'process-runtime';
const namespace = 'default';
const apiGroup = 'rbac.authorization.k8s.io';

test('the rules are exactly the rights that a runtime uses', async () => {
  await using cluster = await startTestCluster({ authorization: 'rbac' });
  const { client } = cluster;
  const folder = mkdtempSync(join(tmpdir(), 'hangar-rights-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  await client.create(ClusterRole, { metadata: { name: user }, rules: [...processRuntimeRules] });
  await client.create(ClusterRoleBinding, {
    metadata: { name: user },
    roleRef: { apiGroup, kind: 'ClusterRole', name: user },
    subjects: [{ kind: 'User', apiGroup, name: user }],
  });
  const rights = new Rights();
  const limited = new RestClient(rights.watched(cluster.transportOf({ name: user })));
  cleanup.defer(() => limited.close());
  const start = (options: Partial<ProcessRuntimeOptions> = {}) =>
    startProcessRuntime({
      ...options,
      client: limited,
      nodeName,
      folder: join(folder, 'node'),
      images: [programsInPath],
      log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
      kubelet: { clientCa: clients.certificate },
    });
  // The second start finds its Node and changes the StorageClass, the third one replaces it.
  await (await start()).close();
  const earlier = { type: 'merge', body: { allowVolumeExpansion: false } } as const;
  await client.patch(StorageClass, { name: storageClassName }, earlier);
  await (await start()).close();
  const runtime = await start({ claimBinding: 'Immediate' });
  cleanup.defer(() => runtime.close({ pods: 'stop' }));
  await client.create(ConfigMap, { metadata: { namespace, name: 'settings' }, data: { a: '1' } });
  await client.create(Secret, { metadata: { namespace, name: 'keys' }, data: {} });
  await client.create(PersistentVolumeClaim, {
    metadata: { namespace, name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'hangar-process',
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await client.create(Service, {
    metadata: { namespace, name: 'web' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await client.create(Pod, {
    metadata: { namespace, name: 'web', labels: { app: 'web' } },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 60,
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'all', projected: { sources: [{ secret: { name: 'keys' } }] } },
      ],
      containers: [
        shell('trap "exit 0" TERM; while :; do sleep 1 & wait $!; done', {
          envFrom: [{ configMapRef: { name: 'settings' } }],
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'all', mountPath: '/all' },
          ],
          // Equal Events become one, which is changed.
          readinessProbe: {
            exec: { command: ['sh', '-c', 'echo x >> /data/tries; test $(wc -l < /data/tries) -gt 2'] },
            periodSeconds: 1,
            timeoutSeconds: 60,
          },
        }),
      ],
    },
  });
  await signServingRequest(client);
  const port = await kubeletPort(client);
  assert.equal((await get(port, '/containerLogs/default/none/main')).status, 404);
  await until('the pod is ready', async () => {
    const { status } = await client.get(Pod, { namespace, name: 'web' });
    return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  });
  await until('the address of the Service', async () => {
    const { status } = await client.get(Service, { namespace, name: 'web' });
    return status?.loadBalancer?.ingress?.[0]?.ip;
  });
  const larger = { type: 'merge', body: { spec: { resources: { requests: { storage: '2Gi' } } } } } as const;
  await client.patch(PersistentVolumeClaim, { namespace, name: 'data' }, larger);
  await until('the claim has grown', async () => {
    const { status } = await client.get(PersistentVolumeClaim, { namespace, name: 'data' });
    return status?.capacity?.['storage'] === '2Gi';
  });
  await client.delete(Pod, { namespace, name: 'web' });
  await until('the pod is gone', async () => !(await find(client, Pod, { namespace, name: 'web' })));
  // The cluster of the test runs no controllers, which would remove the finalizers of unused objects.
  const [volume] = (await client.list(PersistentVolume)).items;
  const removeFinalizers = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
  await client.patch(PersistentVolume, { name: volume!.metadata.name! }, removeFinalizers);
  await client.patch(PersistentVolumeClaim, { namespace, name: 'data' }, removeFinalizers);
  await client.delete(PersistentVolumeClaim, { namespace, name: 'data' });
  await until('the volume is deleted', async () => (await client.list(PersistentVolume)).items.length === 0);
  await until('a changed Event', () => rights.used.has('patch events'));
  // The right to approve is not a separate request, and the server of the test does not issue tokens.
  const isElsewhere = (right: string): boolean => /signers|serviceaccounts\/token/.test(right);
  const unused = rights.unused(processRuntimeRules).filter((right) => !isElsewhere(right));
  assert.deepEqual([rights.refused, unused], [[], []]);
});

/** Bad input and faults: a condition names the fault, nothing is deleted, and the control plane recovers when the fault is fixed. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Node, PersistentVolumeClaim, Pod, Secret, Service } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { findCondition } from '@hangar/runtime';
import { clusterSecretType, HostedControlPlane } from '../api/index.ts';
import { base64, textIn } from '../pki/secrets.ts';
import { newServiceAccountKey } from '../pki/service-account-key.ts';
import { Gateway, tlsRouteKind } from '../gateway/kinds.ts';
import { Cluster, installClusterApi } from '../testing/cluster-api.ts';
import { installGatewayApi } from '../testing/gateway-api.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { ShiftedClock } from '../testing/shifted-clock.ts';
import { until, untilObject, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const world = { clock: systemClock, random: systemRandom };
const authority = createAuthority('kubernetes', 10, world);
const pair = { 'tls.crt': base64(authority.certificate), 'tls.key': base64(authority.key) };

const create = (client: Client, spec: Partial<HostedControlPlane['spec']> = {}, name = 'demo') =>
  client.create(HostedControlPlane, {
    metadata: { namespace, name },
    spec: { version: 'v1.36.4', replicas: 1, ...spec },
  });
const change = (client: Client, spec: object) =>
  client.patch(HostedControlPlane, key, { type: 'merge', body: { spec } });
const authoritySecret = (client: Client, data: Record<string, string>, type = clusterSecretType) =>
  client.create(Secret, { metadata: { namespace, name: 'demo-ca' }, type, data });

async function withPlatform(
  run: (platform: TestPlatform) => Promise<void>,
  options?: Parameters<typeof startTestPlatform>[0],
): Promise<void> {
  await using platform = await startTestPlatform(options);
  platform.start();
  await run(platform);
}

describe('authorities', () => {
  test('an authority of the user signs the certificates, and is not changed', () =>
    withPlatform(async ({ client }) => {
      const before = await authoritySecret(client, pair);
      await create(client);
      await untilReady(client);
      const after = await client.get(Secret, { namespace, name: 'demo-ca' });
      assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
      const serving = await client.get(Secret, { namespace, name: 'demo-apiserver' });
      assert.equal(textIn(serving, 'ca.crt'), authority.certificate);
    }));

  test('a Secret of the wrong type is reported, and used when it is replaced', () =>
    withPlatform(async ({ client }) => {
      await authoritySecret(client, pair, 'Opaque');
      await create(client);
      const { status } = await untilReason(client, 'CACertificatesReady', 'WrongSecretType');
      assert.match(findCondition(status!.conditions, 'Ready')!.message, /Secret "team\/demo-ca" has type Opaque/);
      assert.equal(findCondition(status!.conditions, 'CertificatesReady')!.reason, 'Waiting');
      await client.delete(Secret, { namespace, name: 'demo-ca' });
      await authoritySecret(client, pair);
      await change(client, { replicas: 2 });
      await untilReady(client);
    }));

  test('a pair that is not usable is reported, not deleted, and used when it is repaired', () =>
    withPlatform(async ({ client }) => {
      const other = createAuthority('kubernetes', 10, world);
      const expired = createAuthority('kubernetes', -1, world);
      const leaf = issueCertificate(authority, { commonName: 'a', usage: 'client', days: 1 }, world);
      const [key, otherKey] = [await newServiceAccountKey(), await newServiceAccountKey()];
      const table: [suffix: string, reason: string, data: Record<string, string>, good: Record<string, string>][] = [
        ['ca', 'MissingCAKey', { 'tls.crt': pair['tls.crt'] }, pair],
        ['etcd', 'MissingCACertificate', { 'tls.key': pair['tls.key'] }, pair],
        ['ca', 'InvalidCA', { ...pair, 'tls.key': base64(other.key) }, pair],
        ['proxy', 'InvalidCA', { 'tls.crt': base64(leaf.certificate), 'tls.key': base64(leaf.key) }, pair],
        ['ca', 'InvalidCA', { ...pair, 'tls.crt': base64('garbage') }, pair],
        ['ca', 'CAExpired', { 'tls.crt': base64(expired.certificate), 'tls.key': base64(expired.key) }, pair],
        ['sa', 'MissingServiceAccountKey', { 'tls.crt': key['tls.crt']! }, key],
        ['sa', 'InvalidServiceAccountKey', { ...key, 'tls.key': otherKey['tls.key']! }, key],
      ];
      for (const [at, [suffix, reason, data, good]] of table.entries()) {
        const name = `p${at}`;
        const secret = { namespace, name: `${name}-${suffix}` };
        const { metadata } = await client.create(Secret, { metadata: secret, type: clusterSecretType, data });
        await create(client, {}, name);
        const { status } = await untilReason(client, 'CACertificatesReady', reason, name);
        assert.match(findCondition(status!.conditions, 'Ready')!.message, new RegExp(`"team/${secret.name}"`));
        const patch = { type: 'merge' as const, body: { data: good } };
        const { metadata: after } = await client.patch(Secret, secret, patch);
        assert.equal(after.uid, metadata.uid);
        await client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body: { spec: { replicas: 2 } } });
        await untilReady(client, name);
      }
    }));

  test('an authority that expired can be replaced', async () => {
    const clock = new ShiftedClock();
    await withPlatform(
      async ({ client }) => {
        await authoritySecret(client, pair);
        await create(client);
        await untilReady(client);
        clock.aheadDays = 11;
        await change(client, { replicas: 2 });
        await untilReason(client, 'CACertificatesReady', 'CAExpired');
        const next = createAuthority('kubernetes', 100, world);
        const data = { 'tls.crt': base64(next.certificate), 'tls.key': base64(next.key) };
        await client.patch(Secret, { namespace, name: 'demo-ca' }, { type: 'merge', body: { data } });
        await change(client, { replicas: 3 });
        await untilReady(client);
      },
      { clock },
    );
  });

  test('an authority that disappears or changes later is reported, and not replaced', () =>
    withPlatform(async ({ client }) => {
      await create(client);
      await untilReady(client);
      const name = 'demo-ca';
      const { type, data, metadata } = await client.get(Secret, { namespace, name });
      const { labels } = metadata;
      await client.delete(Secret, { namespace, name });
      const { status } = await untilReason(client, 'CACertificatesReady', 'CAMissing');
      assert.equal(findCondition(status!.conditions, 'AdminKubeconfigReady')!.status, 'True');
      await client.create(Secret, { metadata: { namespace, name, labels: labels! }, type: type!, data: pair });
      await change(client, { replicas: 2 });
      await untilReason(client, 'CACertificatesReady', 'CAChanged');
      await client.patch(Secret, { namespace, name }, { type: 'merge', body: { data } });
      await change(client, { replicas: 3 });
      await untilReady(client);
    }));

  test('a Secret of another owner with the name of a certificate is not replaced', () =>
    withPlatform(async ({ client }) => {
      const metadata = { namespace, name: 'demo-apiserver' };
      const before = await client.create(Secret, { metadata, data: { mine: base64('x') } });
      await create(client);
      await untilReason(client, 'CertificatesReady', 'ObjectConflict');
      const after = await client.get(Secret, metadata);
      assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
      await client.delete(Secret, metadata);
      await change(client, { replicas: 2 });
      await untilReady(client);
    }));
});

describe('the spec', () => {
  test('a version that the operator does not support is refused before anything is created', () =>
    withPlatform(async ({ client }) => {
      await create(client, { version: 'v1.99.0' });
      const { status } = await untilReason(client, 'Ready', 'UnsupportedVersion');
      assert.match(findCondition(status!.conditions, 'Ready')!.message, /v1\.33 to v1\.36/);
      assert.deepEqual((await client.list(Secret, { namespace })).items, []);
    }));

  test('a reserved argument is refused by name', () =>
    withPlatform(async ({ client }) => {
      await create(client, { deployment: { scheduler: { args: { kubeconfig: '/mine', v: '4' } } } });
      const { status } = await untilReason(client, 'Ready', 'ReservedArgument');
      assert.match(findCondition(status!.conditions, 'Ready')!.message, /arguments kubeconfig of kube-scheduler/);
      await change(client, { deployment: { scheduler: { args: { kubeconfig: null } } } });
      await untilReady(client);
    }));

  test('a name that is too long for derived names, or has a dot, is refused', () =>
    withPlatform(async ({ client }) => {
      for (const [name, reason] of Object.entries({ ['n'.repeat(48)]: 'NameTooLong', 'team.demo': 'InvalidName' })) {
        await create(client, {}, name);
        await untilReason(client, 'Ready', reason, name);
      }
    }));

  test('the token of an audit webhook must exist in the namespace', () =>
    withPlatform(async ({ client }) => {
      const targets = [{ server: 'https://audit.example.com', authentication: { secretName: 'audit-token' } }];
      const audit = { policy: { rules: [{ level: 'Metadata' as const }] }, webhook: { targets } };
      await create(client, { deployment: { apiServer: { audit } } });
      await untilReason(client, 'APIServerDeploymentsReady', 'AuditTokenMissing');
      await client.create(Secret, {
        metadata: { namespace, name: 'audit-token' },
        data: { token: base64('of-the-audit') },
      });
      await change(client, { replicas: 2 });
      await untilReady(client);
      const secret = await client.get(Secret, { namespace, name: 'demo-audit' });
      assert.match(textIn(secret, 'webhook.conf'), /of-the-audit/);
    }));

  test('a Secret of another namespace is not read', () =>
    withPlatform(async ({ client }) => {
      const authentication = { secretName: 'a', secretNamespace: 'kube-system' };
      const webhook = { targets: [{ server: 'https://audit.example.com', authentication }] };
      await create(client, {
        deployment: { apiServer: { audit: { policy: { rules: [{ level: 'None' }] }, webhook } } },
      });
      await untilReason(client, 'APIServerDeploymentsReady', 'AuditTokenForbidden');
    }));
});

describe('the volumes of etcd', () => {
  const claims = ['data-demo-etcd-0', 'data-demo-etcd-1', 'data-demo-etcd-2'];
  const claim = async (client: Client, name: string, storageClassName: string): Promise<void> => {
    const resources = { requests: { storage: '8Gi' } };
    const spec = { accessModes: ['ReadWriteOnce' as const], resources, storageClassName, volumeName: `volume-${name}` };
    await client.create(PersistentVolumeClaim, { metadata: { namespace, name }, spec });
    const status = { phase: 'Bound', capacity: { storage: '8Gi' }, accessModes: ['ReadWriteOnce'] };
    await client.status.patch(PersistentVolumeClaim, { namespace, name }, { type: 'merge', body: { status } });
  };
  const storageClass = (client: Client, allowVolumeExpansion: boolean) =>
    client.create(StorageClass, { metadata: { name: 'fast' }, provisioner: 'example.com/fast', allowVolumeExpansion });

  test('a larger size changes the claims, not the template of the StatefulSet', () =>
    withPlatform(async ({ client }) => {
      await storageClass(client, true);
      for (const name of claims) await claim(client, name, 'fast');
      await create(client);
      await untilReady(client);
      await change(client, { etcd: { volumeSize: '16Gi' } });
      for (const name of claims) {
        const grown = ({ spec }: PersistentVolumeClaim): boolean => spec?.resources?.requests?.['storage'] === '16Gi';
        await untilObject(client, PersistentVolumeClaim, name, grown);
      }
      const { status } = await untilReady(client);
      assert.equal(status!.etcdVolumeSize, '8Gi', 'the capacity, until the volumes have grown');
      const { spec } = await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
      assert.deepEqual(spec!.volumeClaimTemplates![0]!.spec!.resources, { requests: { storage: '8Gi' } });
    }));

  test('a storage class that does not allow it is reported', () =>
    withPlatform(async ({ client }) => {
      await storageClass(client, false);
      for (const name of claims) await claim(client, name, 'fast');
      await create(client);
      await untilReady(client);
      await change(client, { etcd: { volumeSize: '16Gi' } });
      const { status } = await untilReason(client, 'EtcdClusterReady', 'VolumeNotExpandable');
      assert.match(
        findCondition(status!.conditions, 'EtcdClusterReady')!.message,
        /data-demo-etcd-0" cannot grow to 16Gi/,
      );
    }));
});

describe('the endpoint', () => {
  test('waits for the address of a load balancer', () =>
    withPlatform(
      async ({ client }) => {
        await create(client);
        await untilReason(client, 'SyncControlPlaneEndpointReady', 'WaitingForLoadBalancer');
        const body = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } };
        await client.status.patch(Service, { namespace, name: 'apiserver-demo' }, { type: 'merge', body });
        const { spec } = await untilReady(client);
        assert.deepEqual(spec.controlPlaneEndpoint, { host: '192.0.2.9', port: 6443 });
        const { args } = (await client.get(Deployment, { namespace, name: 'demo-apiserver' })).spec!.template.spec!
          .containers[0]!;
        assert.ok(args!.includes('--advertise-address=192.0.2.9'));
      },
      { serviceType: 'LoadBalancer' },
    ));

  test('a node without an address is reported for a Service of type NodePort', () =>
    withPlatform(
      async ({ client }) => {
        await client.create(Node, { metadata: { name: 'worker' } });
        await create(client);
        await untilReason(client, 'SyncControlPlaneEndpointReady', 'NodeAddressMissing');
        const body = { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.3' }] } };
        await client.status.patch(Node, { name: 'worker' }, { type: 'merge', body });
        await change(client, { replicas: 2 });
        const { spec } = await untilReady(client);
        const service = await client.get(Service, { namespace, name: 'apiserver-demo' });
        assert.deepEqual(spec.controlPlaneEndpoint, { host: '192.0.2.3', port: service.spec!.ports![0]!.nodePort });
      },
      { serviceType: 'NodePort' },
    ));
});

test('an image that cannot be pulled is reported with the pod and the image', () =>
  withPlatform(async ({ client, workloads }) => {
    workloads.holdBack = /etcd/;
    const labels = { 'cluster.x-k8s.io/cluster-name': 'demo', 'app.kubernetes.io/component': 'etcd' };
    const metadata = { namespace, name: 'demo-etcd-0', labels };
    await client.create(Pod, { metadata, spec: { containers: [{ name: 'etcd', image: 'example.com/etcd:none' }] } });
    const waiting = { reason: 'ImagePullBackOff', message: 'not found' };
    const status = {
      containerStatuses: [
        {
          name: 'etcd',
          image: 'example.com/etcd:none',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { waiting },
        },
      ],
    };
    await client.status.patch(Pod, metadata, { type: 'merge', body: { status } });
    await create(client);
    const { status: after } = await untilReason(client, 'EtcdClusterReady', 'ImagePullFailed');
    assert.match(findCondition(after!.conditions, 'EtcdClusterReady')!.message, /example\.com\/etcd:none: not found/);
    workloads.holdBack = undefined;
    await workloads.refresh();
    await untilReady(client);
  }));

describe('with a Gateway', () => {
  const gateway = { namespace, name: 'shared' };
  const route = tlsRouteKind('v1');
  const platformWithGateways = (run: (platform: TestPlatform) => Promise<void>) => async (): Promise<void> => {
    await using platform = await startTestPlatform({ tlsRouteVersion: 'v1' });
    await installGatewayApi(platform.client);
    platform.start();
    await run(platform);
  };
  const listener = { name: 'tls', protocol: 'TLS', port: 443, hostname: '*.example.com', tls: { mode: 'Passthrough' } };

  test(
    'the endpoint has a host name of the listener, and routes lead to the Service',
    platformWithGateways(async ({ client }) => {
      await client.create(Gateway, { metadata: { ...gateway }, spec: { listeners: [listener] } });
      await create(client, { gateway, konnectivityClient: {} });
      const { spec } = await untilReason(client, 'APIServerTLSRoutesReady', 'RouteNotAccepted');
      assert.deepEqual(spec.controlPlaneEndpoint, { host: 'demo.team.example.com', port: 443 });
      const key = { namespace, name: 'demo-apiserver' };
      assert.deepEqual((await client.get(route, key)).spec, {
        parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', ...gateway }],
        hostnames: ['demo.team.example.com'],
        rules: [{ backendRefs: [{ group: '', kind: 'Service', name: 'apiserver-demo', port: 6443 }] }],
      });
      const accepted = {
        type: 'Accepted',
        status: 'True',
        reason: 'Accepted',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const status = { parents: [{ parentRef: gateway, conditions: [accepted] }] };
      await client.status.patch(route, key, { type: 'merge', body: { status } });
      const agents = { namespace, name: 'demo-apiserver-konnectivity' };
      assert.deepEqual((await client.get(route, agents)).spec, {
        parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', ...gateway }],
        hostnames: ['konnectivity.demo.team.example.com'],
        rules: [{ backendRefs: [{ group: '', kind: 'Service', name: 'apiserver-demo', port: 8132 }] }],
      });
      await client.status.patch(route, agents, { type: 'merge', body: { status } });
      await untilReady(client);
      const kubeconfig = await client.get(Secret, { namespace, name: 'demo-kubeconfig' });
      assert.match(textIn(kubeconfig, 'value'), /server: https:\/\/demo\.team\.example\.com:443/);
    }),
  );

  test(
    'a Gateway that does not exist, or has no usable listener, is reported',
    platformWithGateways(async ({ client }) => {
      await create(client, { gateway });
      await untilReason(client, 'SyncControlPlaneEndpointReady', 'GatewayNotFound');
      await client.create(Gateway, {
        metadata: { ...gateway },
        spec: { listeners: [{ ...listener, protocol: 'HTTPS' }] },
      });
      await change(client, { replicas: 2 });
      await untilReason(client, 'SyncControlPlaneEndpointReady', 'GatewayListenerMissing');
    }),
  );

  test('without the Gateway API, spec.gateway is a fault', () =>
    withPlatform(async ({ client }) => {
      await create(client, { gateway });
      await untilReason(client, 'SyncControlPlaneEndpointReady', 'GatewayAPIMissing');
    }));
});

describe('with Cluster API', () => {
  const platformWithClusterApi = (run: (platform: TestPlatform) => Promise<void>) => async (): Promise<void> => {
    await using platform = await startTestPlatform({ clusterApi: 'v1beta2' });
    await installClusterApi(platform.client);
    platform.start();
    await run(platform);
  };

  test(
    'a control plane waits for its Cluster, takes its name, networks and address, and obeys its pause',
    platformWithClusterApi(async ({ client }) => {
      await create(client);
      await untilReason(client, 'Ready', 'WaitingForCluster');
      const cluster = await client.create(Cluster, {
        metadata: { namespace, name: 'prod' },
        spec: {
          paused: true,
          controlPlaneRef: { kind: 'HostedControlPlane', name: 'demo' },
          clusterNetwork: { services: { cidrBlocks: ['10.50.0.0/16'] } },
          controlPlaneEndpoint: { host: 'prod.example.com', port: 443 },
        },
      });
      const { apiVersion, kind, metadata } = cluster;
      const owner = { apiVersion, kind, name: metadata.name!, uid: metadata.uid! };
      const body = { metadata: { ownerReferences: [owner] } };
      await client.patch(HostedControlPlane, key, { type: 'merge', body });
      await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'Paused')?.status === 'True');
      assert.deepEqual((await client.list(Secret, { namespace })).items, []);
      await client.patch(Cluster, { namespace, name: 'prod' }, { type: 'merge', body: { spec: { paused: false } } });
      const { spec } = await untilReady(client);
      assert.deepEqual(spec.controlPlaneEndpoint, { host: 'prod.example.com', port: 443 });
      const kubeconfig = await client.get(Secret, { namespace, name: 'prod-kubeconfig' });
      assert.match(textIn(kubeconfig, 'value'), /server: https:\/\/prod\.example\.com:443/);
      const { args } = (await client.get(Deployment, { namespace, name: 'prod-apiserver' })).spec!.template.spec!
        .containers[0]!;
      assert.ok(args!.includes('--service-cluster-ip-range=10.50.0.0/16'));
    }),
  );

  test(
    'an annotation runs a control plane without a Cluster',
    platformWithClusterApi(async ({ client }) => {
      const metadata = { ...key, annotations: { 'hosted.hangar.dev/standalone': 'true' } };
      await client.create(HostedControlPlane, { metadata, spec: { version: 'v1.36.4' } });
      await untilReady(client);
    }),
  );
});

describe('alarms of etcd', () => {
  const mebibyte = 2 ** 20;
  const full = {
    type: 'NOSPACE' as const,
    member: 'demo-etcd-1',
    dbSizeBytes: 2_049 * mebibyte,
    quotaBytes: 2_048 * mebibyte,
  };

  test('NOSPACE names the member, its size and its quota; nothing is deleted, and it recovers when the alarm ends', async () => {
    await using platform = await startTestPlatform();
    const { client } = platform;
    const first = platform.start();
    await create(client);
    await untilReady(client);
    await first.stop();
    platform.etcdHealth = { dbSizeBytes: full.dbSizeBytes, alarms: [full] };
    const second = platform.start();
    const { status } = await untilReason(client, 'EtcdClusterReady', 'NoSpace');
    assert.match(
      findCondition(status!.conditions, 'Ready')!.message,
      /refuses writes: member "demo-etcd-1" uses 2049Mi of its quota of 2048Mi\. The operator removes old revisions/,
    );
    assert.equal(status!.etcdVolumeUsage, '2049Mi');
    assert.equal(findCondition(status!.conditions, 'Available')!.status, 'True');
    assert.deepEqual(
      platform.writes.filter((one) => one.startsWith('DELETE')),
      [],
    );
    await second.stop();
    // An operator that has not probed yet keeps the fault; one that cannot reach etcd reports none.
    platform.forget();
    platform.etcdHealth = { dbSizeBytes: mebibyte, alarms: [] };
    const third = platform.start();
    const { status: recovered } = await untilReady(client);
    assert.equal(recovered!.etcdVolumeUsage, '1Mi');
    await platform.quiet();
    assert.equal(platform.writes.filter((one) => one.includes('/status')).length, 1);
    await third.stop();
    platform.etcdHealth = undefined;
    platform.forget();
    platform.start();
    await platform.quiet();
    assert.deepEqual(platform.writes, []);
  });

  test('CORRUPT is reported before NOSPACE', () =>
    withPlatform(async (platform) => {
      platform.etcdHealth = { dbSizeBytes: 1, alarms: [full, { type: 'CORRUPT', member: 'demo-etcd-2' }] };
      await create(platform.client);
      const { status } = await untilReason(platform.client, 'EtcdClusterReady', 'EtcdCorrupt');
      assert.match(findCondition(status!.conditions, 'EtcdClusterReady')!.message, /member "demo-etcd-2"/);
    }));
});

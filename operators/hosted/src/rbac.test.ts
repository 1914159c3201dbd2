import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import { Namespace, Node, PersistentVolumeClaim, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { Logger, systemClock } from '@hangar/core';
import { installCrd, Rights, startTestCluster } from '@hangar/testkit';
import { definitions } from './api/generated/index.ts';
import { annotations, clusterNameLabel, HostedControlPlane, rotateAnnotation } from './api/index.ts';
import { Issuer } from './cert-manager/kinds.ts';
import { runAction } from './etcd/actions/index.ts';
import type { OpenSession } from './etcd/session.ts';
import { healthyMember, notMember, observationOf } from './etcd/testing/observations.ts';
import { Gateway } from './gateway/kinds.ts';
import { hostedOperator } from './operator.ts';
import { certManagerRules, clusterApiRules, gatewayRules, hostedRules } from './rbac.ts';
import { certManagerDouble, installCertManager } from './testing/cert-manager-double.ts';
import { Cluster, installClusterApi } from './testing/cluster-api.ts';
import { installGatewayApi } from './testing/gateway-api.ts';
import { namespace, startTenantDouble } from './testing/platform.ts';
import { untilGone, untilObject, untilReady, untilReason } from './testing/until.ts';
import { workloadDouble } from './testing/workload-double.ts';

const user = 'hangar-hosted-operator';
const key = { namespace, name: 'demo' };
/** Of a member that was removed earlier. */
const earlier = {
  metadata: { namespace, name: 'data-demo-etcd-3' },
  spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '8Gi' } } },
};

/** Sessions that observe the claim of a removed member once, and run the actual actions. */
function leftoverClaim(uid: string): OpenSession {
  const claim = { uid, isLost: false, isTerminating: false };
  const members = [0, 1, 2].map(healthyMember);
  let observation = observationOf({
    desired: 5,
    members: [...members, notMember(3, { claim }), notMember(4)],
    membership: { replicas: 3 },
  });
  return (target, context) => ({
    observe: () => Promise.resolve(observation),
    run(action, observed) {
      observation = observationOf();
      return runAction(action, { target, observation: observed, ...context, clock: systemClock, members: new Map() });
    },
    close: () => {},
  });
}

const componentLabel = { 'app.kubernetes.io/component': 'kube-apiserver' };

test('the permissions of the operator are enough, and none is unused', async () => {
  await using opened = new AsyncDisposableStack();
  const management = opened.use(await startTestCluster({ authorization: 'rbac' }));
  const tenant = opened.use(await startTenantDouble());
  const { client } = management;
  for (const definition of definitions) await installCrd(client, definition);
  await installClusterApi(client);
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(Node, {
    metadata: { name: 'worker' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.3' }] },
  });
  await installGatewayApi(client);
  await installCertManager(client);
  const rules = [...hostedRules, ...clusterApiRules, ...gatewayRules, ...certManagerRules];
  await client.create(ClusterRole, { metadata: { name: user }, rules });
  await client.create(ClusterRoleBinding, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  });
  const workloads = workloadDouble(client);
  opened.defer(() => workloads.stop());
  const rights = new Rights();
  const manager = hostedOperator({
    management: new RestClient(rights.watched(management.transportOf({ name: user }))),
    connect: () => Promise.resolve(new RestClient(tenant.transportOf())),
    openEtcd: leftoverClaim((await client.create(PersistentVolumeClaim, earlier)).metadata.uid!),
    clusterApi: 'v1beta2',
    tlsRouteVersion: 'v1',
    certManager: 'on-request',
    serviceType: 'NodePort',
    log: new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} }),
  });
  const ending = new AbortController();
  const running = manager.run(ending.signal);
  opened.defer(async () => {
    ending.abort();
    await running;
  });
  const cluster = await client.create(Cluster, { metadata: { ...key }, spec: {} });
  const { apiVersion, kind, metadata } = cluster;
  const ownerReferences = [{ apiVersion, kind, name: metadata.name!, uid: metadata.uid! }];
  workloads.holdBack = /etcd/;
  await client.create(HostedControlPlane, { metadata: { ...key, ownerReferences }, spec: { version: 'v1.36.4' } });
  await untilReason(client, 'EtcdClusterReady', 'MembersNotReady');
  workloads.holdBack = undefined;
  await workloads.refresh();
  await untilReady(client);
  // Ready again: the Event of the first time becomes a series.
  workloads.ready.set('demo-etcd', 1);
  await workloads.refresh();
  await untilReason(client, 'EtcdClusterReady', 'QuorumLost');
  workloads.ready.clear();
  await workloads.refresh();
  await untilReady(client);
  // An immutable Secret is replaced when its certificate has to change.
  const secret = { namespace, name: 'demo-scheduler' };
  const { uid } = (await client.get(Secret, secret)).metadata;
  const body = { immutable: true, metadata: { annotations: { 'hosted.hangar.dev/request': 'old' } } };
  await client.patch(Secret, secret, { type: 'merge', body });
  await client.delete(Deployment, secret);
  for await (const event of client.watch(Secret, {
    namespace,
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  })) {
    if (event.type !== 'BOOKMARK' && event.object.metadata.name === secret.name && event.object.metadata.uid !== uid)
      break;
  }
  const gateway = { namespace, name: 'shared' };
  const tls = { mode: 'Passthrough' };
  const listeners = [{ name: 'tls', protocol: 'TLS', port: 443, hostname: '*.example.com', tls }];
  await client.create(Gateway, { metadata: { ...gateway }, spec: { listeners } });
  await client.create(HostedControlPlane, {
    metadata: { namespace, name: 'routed', annotations: { [annotations.standalone]: 'true' } },
    spec: { version: 'v1.36.4', gateway },
  });
  await untilReason(client, 'APIServerTLSRoutesReady', 'RouteNotAccepted', 'routed');
  opened.use(certManagerDouble(client));
  const issued = { namespace, name: 'issued', annotations: { [annotations.standalone]: 'true' } };
  await client.create(HostedControlPlane, {
    metadata: issued,
    spec: { version: 'v1.36.4', certificates: { issuer: 'CertManager' } },
  });
  await untilReady(client, 'issued');
  const { items: issuers } = await client.list(Issuer, { namespace });
  const first = issuers.find(({ metadata: { name } }) => name!.startsWith('issued-proxy-'))!;
  const rotate = { metadata: { annotations: { [rotateAnnotation('proxy')]: 'now' } } };
  await client.patch(HostedControlPlane, { namespace, name: 'issued' }, { type: 'merge', body: rotate });
  for await (const event of client.watch(Issuer, { namespace, resourceVersion: first.metadata.resourceVersion! })) {
    if (event.type === 'DELETED' && event.object.metadata.name === first.metadata.name) break;
  }
  await client.create(StorageClass, {
    metadata: { name: 'fast' },
    provisioner: 'example.com/fast',
    allowVolumeExpansion: true,
  });
  const claim = { namespace, name: 'data-demo-etcd-0' };
  const resources = { requests: { storage: '8Gi' } };
  await client.create(PersistentVolumeClaim, {
    metadata: { ...claim },
    spec: { accessModes: ['ReadWriteOnce'], resources, storageClassName: 'fast', volumeName: 'volume' },
  });
  const bound = { status: { phase: 'Bound', capacity: { storage: '8Gi' } } };
  await client.status.patch(PersistentVolumeClaim, claim, { type: 'merge', body: bound });
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { etcd: { volumeSize: '16Gi' } } } });
  await untilObject(
    client,
    PersistentVolumeClaim,
    claim.name,
    ({ spec }) => spec?.resources?.requests?.['storage'] === '16Gi',
  );
  // The operator has received the response when it reports the generation.
  await untilReady(client);
  await client.create(Pod, {
    metadata: { namespace, name: 'stranded', labels: { [clusterNameLabel]: 'demo', ...componentLabel } },
    spec: { containers: [{ name: 'main', image: 'image' }] },
  });
  workloads.holdBack = /apiserver/;
  await client.delete(HostedControlPlane, key);
  await untilReason(client, 'Deleting', 'WaitingForPods');
  await client.delete(StatefulSet, { namespace, name: 'demo-etcd' });
  workloads.holdBack = undefined;
  await workloads.refresh();
  await untilGone(client, 'demo');
  await client.delete(HostedControlPlane, { namespace, name: 'issued' });
  await untilGone(client, 'issued');
  // The server checks `create` for an apply that creates an object, although the request is a patch.
  const applied = (right: string): boolean =>
    right.startsWith('create ') && rights.used.has(right.replace('create', 'patch'));
  const unused = rights.unused(rules).filter((right) => !right.includes('/finalizers') && !applied(right));
  assert.deepEqual([rights.refused, unused], [[], []]);
});

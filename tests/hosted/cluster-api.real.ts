/**
 * The contract of a control plane provider with the real Cluster API: its core manager with the topology controller of ClusterClasses, its
 * kubeadm bootstrap manager and clusterctl, the program `hangar hosted-operator`, and a Hangar as the management cluster, whose node is the
 * process runtime. The infrastructure provider is a kind whose objects the test marks as provisioned.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { connect, find, loadKubeconfig } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Namespace, PersistentVolumeClaim, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { Logger, systemClock } from '@hangar/core';
import { programsByName, startProcessRuntime, storageClassName } from '@hangar/process-runtime';
import type { ProcessRuntime } from '@hangar/process-runtime';
import { findCondition } from '@hangar/runtime';
import { installCrd } from '@hangar/testkit';
import { definitions } from '../../operators/hosted/src/api/generated/index.ts';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { clusterApiFiles } from '../../scripts/build/cluster-api.ts';
import { tool } from '../../tools/tool.ts';
import { startCluster } from '../conformance/components/cluster.ts';
import type { Cluster as Management } from '../conformance/components/cluster.ts';
import { makeTenant } from '../conformance/servers/place.ts';
import { until } from '../process-runtime/testing/until.ts';
import { installClusterApiDefinitions, startClusterApi } from './testing/cluster-api.ts';
import type { ClusterApi } from './testing/cluster-api.ts';
import { ClusterV1Beta1, ClusterV1Beta2, KubeadmConfig, Machine } from './testing/cluster-api-kinds.ts';
import {
  createClusterClass,
  ManagedCluster,
  namespace as classNamespace,
  rotateTemplate,
  template,
  useTemplate,
} from './testing/cluster-class.ts';
import { AWSCluster, AWSMachine, infrastructureDefinitions, provision } from './testing/infrastructure.ts';
import { startOperatorProcess } from './testing/operator-process.ts';
import type { OperatorProcess } from './testing/operator-process.ts';
import { newerVersion, olderPrograms, olderVersion } from './testing/versions.ts';

const run = promisify(execFile);
const namespace = 'clusters';
const clusterKey = { namespace, name: 'my-cluster' };
const planeKey = { namespace, name: 'my-hosted-control-plane' };
const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const authorities = ['my-cluster-ca', 'my-cluster-etcd', 'my-cluster-proxy', 'my-cluster-sa'];
const operatorArguments = [
  '--reach=endpoint',
  '--service-type=NodePort',
  '--konnectivity=requested',
  '--leader-elect=false',
];

/** The manifests of the documents of the provider. The Cluster has no namespace there. */
const manifests = `
apiVersion: controlplane.cluster.x-k8s.io/v1alpha1
kind: HostedControlPlane
metadata:
  name: my-hosted-control-plane
  namespace: clusters
spec:
  version: v1.36.4
  replicas: 3
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: my-cluster
spec:
  controlPlaneRef:
    apiVersion: controlplane.cluster.x-k8s.io/v1alpha1
    kind: HostedControlPlane
    name: my-hosted-control-plane
  infrastructureRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: AWSCluster # Or your infrastructure provider
    name: my-aws-cluster
`;

/** With the label that `clusterctl init` adds to the definitions of a provider. */
const allDefinitions = [...definitions, ...infrastructureDefinitions].map(({ metadata, ...definition }) => ({
  ...definition,
  metadata: { ...metadata, labels: { ...metadata.labels, 'clusterctl.cluster.x-k8s.io': '' } },
}));

describe('a HostedControlPlane of a Cluster', () => {
  let management: Management;
  let client: Client;
  let runtime: ProcessRuntime;
  let clusterApi: ClusterApi;
  let operator: OperatorProcess;
  let managed: ManagedCluster;
  const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });

  before(async () => {
    const paths = await Promise.all(programs.map(async (name) => [name, await tool(name)] as const));
    management = await startCluster({
      components: ['kube-controller-manager', 'kube-scheduler'],
      // The webhooks of Cluster API are on this machine.
      serverArguments: ['--outbound-allow-cidr=127.0.0.0/8'],
    });
    client = connect(await loadKubeconfig(management.kubeconfig));
    await client.create(Namespace, { metadata: { name: namespace } });
    for (const definition of allDefinitions) await installCrd(client, definition);
    const { folder, kubeconfig } = management;
    clusterApi = await startClusterApi({ client, kubeconfig, folder });
    runtime = await startProcessRuntime({
      client,
      nodeName: 'process-node',
      folder: join(folder, 'node'),
      images: [programsByName({ ...Object.fromEntries(paths), ...(await olderPrograms()) })],
      taints: [],
      log,
    });
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    await client.patch(
      StorageClass,
      { name: storageClassName },
      { type: 'merge', body: { metadata: { annotations } } },
    );
    operator = await startOperatorProcess({ kubeconfig, args: operatorArguments });
    // It starts while the tests of the other Cluster wait.
    managed = new ManagedCluster(client, () => [...operator.lines, ...clusterApi.lines].slice(-60).join('\n'));
    await createClusterClass(client);
    await managed.create({ version: olderVersion, controlPlane: { replicas: 1 } });
  });
  after(async () => {
    await operator?.stop();
    await clusterApi?.stop();
    if (runtime) await Promise.all([namespace, classNamespace].map(removePods));
    await runtime?.close({ pods: 'stop' });
    await client?.close();
    await management?.stop();
  });

  /** Ends programs without their grace period. */
  const removePods = async (namespace: string): Promise<void> => {
    for (const kind of [Deployment, StatefulSet]) {
      await client.deleteCollection<ApiObject>(kind, { namespace, propagationPolicy: 'Background' });
    }
    await until('all pods are gone', async () => {
      await client.deleteCollection(Pod, { namespace, gracePeriodSeconds: 1 });
      return (await client.list(Pod, { namespace })).items.length === 0;
    });
  };
  const plane = (): Promise<HostedControlPlane> => client.get(HostedControlPlane, planeKey);
  const describeAll = async (): Promise<string> => {
    const objects = [await plane(), await client.get(ClusterV1Beta2, clusterKey)].map(({ status }) => status);
    return [JSON.stringify(objects, undefined, 1), ...operator.lines.slice(-20), ...clusterApi.lines.slice(-20)].join(
      '\n',
    );
  };
  const untilPlane = (what: string, holds: (object: HostedControlPlane) => boolean): Promise<HostedControlPlane> =>
    until(
      what,
      async () => {
        const object = await plane();
        return holds(object) && object;
      },
      describeAll,
    );
  const kubectl = async (kubeconfig: string, ...args: readonly string[]): Promise<string> =>
    (await run(await tool('kubectl'), [`--kubeconfig=${kubeconfig}`, ...args])).stdout;
  const clusterctl = async (kubeconfig: string, ...args: readonly string[]): Promise<string> => {
    const env = {
      ...process.env,
      KUBECONFIG: kubeconfig,
      XDG_CONFIG_HOME: management.folder,
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
    };
    return (await run(await tool('clusterctl', { log: console.log }), args, { env })).stdout;
  };
  const paused = async (isPaused: boolean): Promise<void> => {
    const body = { spec: { paused: isPaused } };
    await client.patch(ClusterV1Beta2, clusterKey, { type: 'merge', body });
  };

  test('the manifests of the documents become an initialized Cluster', async () => {
    const file = join(management.folder, 'manifests.yaml');
    await writeFile(file, manifests);
    await kubectl(management.kubeconfig, 'apply', `--namespace=${namespace}`, `--filename=${file}`);
    await client.create(AWSCluster, { metadata: { namespace, name: 'my-aws-cluster' } });
    await untilPlane('the control plane is initialized', ({ status }) => status?.initialized === true);
    // Cluster API connects as soon as the infrastructure is provisioned. It retries only after 30 seconds.
    await provision(client, { namespace, name: 'my-aws-cluster' });
    const cluster = await until(
      'the control plane of the Cluster is available',
      async () => {
        const object = await client.get(ClusterV1Beta2, clusterKey);
        const isAvailable = findCondition(object.status?.conditions, 'ControlPlaneAvailable')?.status === 'True';
        const isProvisioned = object.status?.initialization?.infrastructureProvisioned === true;
        return isAvailable && isProvisioned && object.status?.controlPlane?.readyReplicas === 3 && object;
      },
      describeAll,
    );
    assert.deepEqual(cluster.status?.initialization, {
      infrastructureProvisioned: true,
      controlPlaneInitialized: true,
    });
    assert.equal(findCondition(cluster.status.conditions, 'ControlPlaneInitialized')?.status, 'True');
    const { status: before } = await client.get(ClusterV1Beta1, clusterKey);
    assert.equal(before?.controlPlaneReady, true);
    assert.equal(before.conditions?.find(({ type }) => type === 'ControlPlaneInitialized')?.status, 'True');
    const object = await untilPlane('the control plane is Ready', ({ status }) =>
      ['Ready', 'Available'].every((type) => findCondition(status?.conditions, type)?.status === 'True'),
    );
    assert.deepEqual(cluster.spec?.controlPlaneEndpoint, object.spec.controlPlaneEndpoint);
  });

  test('the status follows both versions of the contract', async () => {
    const { status, metadata } = await untilPlane(
      'the version is complete',
      (object) =>
        object.status?.version === 'v1.36.4' && object.status.observedGeneration === object.metadata.generation,
    );
    const { selector, conditions, observedGeneration, ...rest } = status!;
    assert.deepEqual(rest, {
      // v1beta2
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      upToDateReplicas: 3,
      initialization: { controlPlaneInitialized: true },
      version: 'v1.36.4',
      externalManagedControlPlane: true,
      // v1beta1
      initialized: true,
      ready: true,
      updatedReplicas: 3,
      unavailableReplicas: 0,
      // of this provider
      rendering: '1',
      ...(rest.etcdVolumeSize === undefined ? {} : { etcdVolumeSize: rest.etcdVolumeSize }),
      ...(rest.etcdVolumeUsage === undefined ? {} : { etcdVolumeUsage: rest.etcdVolumeUsage }),
      ...(rest.etcdMembers === undefined ? {} : { etcdMembers: rest.etcdMembers }),
    });
    assert.equal(observedGeneration, metadata.generation);
    const pods = await client.list(Pod, { namespace, labelSelector: selector! });
    assert.equal(pods.items.length, 3);
    const contract = {
      Available: 'True',
      RollingOut: 'False',
      ScalingUp: 'False',
      ScalingDown: 'False',
      Paused: 'False',
    };
    for (const [type, expected] of Object.entries(contract)) {
      assert.equal(findCondition(conditions, type)?.status, expected, type);
    }
  });

  test('the Secrets follow the contract, and all objects belong to the Cluster', async () => {
    const [owner] = (await plane()).metadata.ownerReferences ?? [];
    const { uid } = (await client.get(ClusterV1Beta2, clusterKey)).metadata;
    assert.deepEqual([owner?.kind, owner?.name, owner?.uid], ['Cluster', 'my-cluster', uid]);
    for (const name of [...authorities, 'my-cluster-kubeconfig']) {
      const { type, metadata, data } = await client.get(Secret, { namespace, name });
      assert.equal(type, 'cluster.x-k8s.io/secret', name);
      assert.equal(metadata.labels?.['cluster.x-k8s.io/cluster-name'], 'my-cluster', name);
      assert.deepEqual(
        metadata.ownerReferences?.map(({ kind }) => kind),
        ['HostedControlPlane'],
        name,
      );
      const keys = name.endsWith('-kubeconfig') ? ['value'] : ['tls.crt', 'tls.key'];
      assert.deepEqual(
        Object.keys(data ?? {}).filter((key) => keys.includes(key)),
        keys,
        name,
      );
    }
    const text = await clusterctl(management.kubeconfig, 'get', 'kubeconfig', 'my-cluster', `--namespace=${namespace}`);
    const file = join(management.folder, 'my-cluster.kubeconfig');
    await writeFile(file, text, { mode: 0o600 });
    assert.match(await kubectl(file, 'version'), /Server Version: v1\.36\.4/);
  });

  test('the kubeadm bootstrap manager creates the data of a worker node', async () => {
    const name = 'worker';
    await client.create(AWSMachine, { metadata: { namespace, name } });
    await client.create(KubeadmConfig, {
      metadata: { namespace, name },
      spec: { joinConfiguration: { nodeRegistration: { name } } },
    });
    await client.create(Machine, {
      metadata: { namespace, name },
      spec: {
        clusterName: 'my-cluster',
        version: 'v1.36.4',
        bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name } },
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AWSMachine', name },
      },
    });
    const { status } = await until(
      'the bootstrap data exists',
      async () => {
        const config = await client.get(KubeadmConfig, { namespace, name });
        return config.status?.dataSecretName !== undefined && config;
      },
      describeAll,
    );
    const { data } = await client.get(Secret, { namespace, name: status!.dataSecretName! });
    const { host, port } = (await plane()).spec.controlPlaneEndpoint!;
    const text = Buffer.from(data!['value']!, 'base64').toString();
    assert.match(text, /kubeadm join/);
    assert.ok(text.includes(`apiServerEndpoint: ${host}:${port}`), text);
    // clusterctl does not move Clusters with Machines that are being provisioned.
    await client.delete(Machine, { namespace, name });
    await until('the Machine is deleted', async () => !(await find(client, Machine, { namespace, name })), describeAll);
  });

  test('a paused Cluster and the paused annotation stop the reconciler', async () => {
    const replicasOfDeployment = async (): Promise<number | undefined> =>
      (await client.get(Deployment, { namespace, name: 'my-cluster-apiserver' })).spec?.replicas;
    const isPaused = (object: HostedControlPlane, expected: string): boolean =>
      findCondition(object.status?.conditions, 'Paused')?.status === expected &&
      object.status?.observedGeneration === object.metadata.generation;
    const scale = (replicas: number): Promise<unknown> =>
      client.patch(HostedControlPlane, planeKey, { type: 'merge', body: { spec: { replicas } } });
    await paused(true);
    await scale(1);
    await untilPlane('the control plane is paused by its Cluster', (object) => isPaused(object, 'True'));
    assert.equal(await replicasOfDeployment(), 3);
    await annotatePaused('');
    await paused(false);
    // Cluster API reports the change of the Cluster to the operator; the annotation still pauses the control plane.
    await scale(2);
    await untilPlane('the control plane is paused by its annotation', (object) => isPaused(object, 'True'));
    assert.equal(await replicasOfDeployment(), 3);
    await annotatePaused(null);
    await untilPlane(
      'the control plane is reconciled',
      (object) => isPaused(object, 'False') && object.status?.replicas === 2,
    );
    assert.equal(await replicasOfDeployment(), 2);
  });
  const annotatePaused = async (value: string | null): Promise<void> => {
    const body = { metadata: { annotations: { 'cluster.x-k8s.io/paused': value } } };
    await client.patch(HostedControlPlane, planeKey, { type: 'merge', body });
  };

  test('clusterctl accepts the files of a release', async () => {
    const folder = join(management.folder, 'control-plane-hosted-control-plane', 'v0.1.0');
    await mkdir(folder, { recursive: true });
    const files = clusterApiFiles({ version: '0.1.0', image: 'localhost/hangar:0.1.0' });
    for (const [name, text] of files) await writeFile(join(folder, name), text);
    const config = join(management.folder, 'clusterctl.yaml');
    const url = join(folder, 'control-plane-components.yaml');
    await writeFile(
      config,
      JSON.stringify({ providers: [{ name: 'hosted-control-plane', type: 'ControlPlaneProvider', url }] }),
    );
    const text = await clusterctl(
      management.kubeconfig,
      'generate',
      'provider',
      `--config=${config}`,
      '--control-plane=hosted-control-plane:v0.1.0',
      '--target-namespace=elsewhere',
    );
    assert.match(text, /inject-ca-from: elsewhere\/capi-hosted-control-plane-controller-manager/);
    assert.match(text, /image: localhost\/hangar:0\.1\.0/);
  });

  test('clusterctl move keeps the authorities and needs no status', async () => {
    const { folder, kubeconfig } = management;
    const backup = join(folder, 'backup');
    await mkdir(backup);
    await clusterctl(kubeconfig, 'move', `--to-directory=${backup}`, `--namespace=${namespace}`);
    const target = await makeTenant({ kubeconfig, name: 'target', folder });
    const targetClient = connect(await loadKubeconfig(target));
    let other: OperatorProcess | undefined;
    try {
      await targetClient.create(Namespace, { metadata: { name: namespace } });
      await installClusterApiDefinitions(targetClient);
      for (const definition of allDefinitions) await installCrd(targetClient, definition);
      await clusterctl(target, 'move', `--from-directory=${backup}`, `--namespace=${namespace}`);
      assert.equal((await targetClient.get(HostedControlPlane, planeKey)).status, undefined);
      other = await startOperatorProcess({ kubeconfig: target, args: operatorArguments });
      await until(
        'the certificates are ready',
        async () => {
          const { status } = await targetClient.get(HostedControlPlane, planeKey);
          return findCondition(status?.conditions, 'CertificatesReady')?.status === 'True';
        },
        () => other!.lines.slice(-20).join('\n'),
      );
      for (const name of authorities) {
        const [from, to] = await Promise.all([client, targetClient].map((one) => one.get(Secret, { namespace, name })));
        assert.deepEqual(to!.data, from!.data, name);
      }
    } finally {
      await other?.stop();
      await targetClient.close();
    }
  });

  describe('of a ClusterClass', () => {
    const argsOf = async (component: string): Promise<readonly string[]> => {
      const { spec } = await client.get(Deployment, { namespace: classNamespace, name: `managed-${component}` });
      return spec!.template.spec!.containers[0]!.args ?? [];
    };

    test('the topology controller creates it from the template and the variables', async () => {
      const { metadata, spec, status } = await managed.ready('the control plane is Ready', () => true);
      assert.deepEqual(spec, {
        version: olderVersion,
        replicas: 1,
        etcd: { replicas: 1, volumeSize: '1Gi' },
        deployment: { scheduler: { args: { v: '2' } } },
        controlPlaneEndpoint: spec.controlPlaneEndpoint,
      });
      assert.equal(status?.version, olderVersion);
      assert.equal(metadata.labels?.['team'], 'a');
      assert.equal(metadata.labels?.['topology.cluster.x-k8s.io/owned'], '');
      assert.equal(metadata.annotations?.['purpose'], 'test');
      assert.equal(metadata.annotations?.['cluster.x-k8s.io/cloned-from-name'], 'first');
      const claims = await client.list(PersistentVolumeClaim, { namespace: classNamespace });
      assert.deepEqual(
        claims.items.map((claim) => claim.spec?.resources?.requests),
        [{ storage: '1Gi' }],
      );
      const cluster = await managed.reconciled();
      assert.equal(cluster.status?.initialization?.controlPlaneInitialized, true);
      assert.equal(findCondition(cluster.status?.conditions, 'ControlPlaneInitialized')?.status, 'True');
      assert.deepEqual(cluster.spec?.controlPlaneEndpoint, spec.controlPlaneEndpoint);
    });

    test('the topology controller and the operator write nothing while nothing changes', async () => {
      const { metrics } = operator.ports;
      const controllers = [
        { url: clusterApi.metricsUrl, controller: 'topology/cluster' },
        { url: `http://127.0.0.1:${metrics}/metrics`, controller: 'hostedcontrolplane' },
      ];
      const counts = () => Promise.all(controllers.map(reconcilesOf));
      const reconcileAgain = async (round: number): Promise<void> => {
        const before = await counts();
        await managed.touch(round);
        await until('both have reconciled again', async () => {
          const now = await counts();
          return now.every((count, at) => count > before[at]!);
        });
      };
      await reconcileAgain(0);
      const { metadata } = await managed.plane();
      for (let round = 1; round <= 10; round++) await reconcileAgain(round);
      assert.equal((await managed.plane()).metadata.resourceVersion, metadata.resourceVersion);
    });

    test('a variable of the topology changes it', async () => {
      await managed.change({ variables: [{ name: 'schedulerVerbosity', value: '3' }] });
      await managed.reconciled();
      await managed.ready('the variable is rolled out', ({ spec }) => spec.deployment?.scheduler?.args?.['v'] === '3');
      assert.ok((await argsOf('scheduler')).includes('--v=3'));
    });

    test('the replicas of the topology scale it', async () => {
      await managed.change({ controlPlane: { replicas: 2 } });
      await managed.reconciled();
      const { spec } = await managed.ready('two API servers', ({ status }) => status?.readyReplicas === 2);
      assert.equal(spec.replicas, 2);
      await managed.change({ controlPlane: { replicas: 1 } });
      await managed.reconciled();
      await managed.ready('one API server', ({ status }) => status?.replicas === 1);
    });

    test('the version of the topology upgrades it', async () => {
      await managed.change({ version: newerVersion });
      await managed.topologyIs('False', (message) => message.includes(`upgrading to version ${newerVersion}`));
      const cluster = await managed.reconciled();
      const { status, spec } = await managed.ready('the upgrade is complete', () => true);
      assert.deepEqual([spec.version, status?.version], [newerVersion, newerVersion]);
      assert.equal(findCondition(cluster.status?.conditions, 'RollingOut')?.status, 'False');
    });

    test('another template of the ClusterClass changes it in place, and a refused one changes nothing', async () => {
      const { metadata: before } = await managed.plane();
      const { metadata, spec } = template;
      await rotateTemplate(client, 'second', { metadata: { ...metadata, labels: { team: 'b' } }, spec });
      const clonedFrom = 'cluster.x-k8s.io/cloned-from-name';
      const rotated = await managed.ready(
        'the second template is used',
        (one) => one.metadata.annotations?.[clonedFrom] === 'second',
      );
      assert.equal(rotated.metadata.uid, before.uid);
      assert.equal(rotated.metadata.labels?.['team'], 'b');
      const gateway = { namespace: 'team', name: 'shared' };
      await rotateTemplate(client, 'third', { ...template, spec: { ...spec, gateway } });
      await managed.topologyIs('False', (message) => message.includes('spec.gateway cannot be added or removed'));
      assert.deepEqual((await managed.plane()).spec, rotated.spec);
      await useTemplate(client, 'second');
      await managed.reconciled();
    });
  });
});

/** Returns how often a controller has reconciled. */
async function reconcilesOf({ url, controller }: { url: string; controller: string }): Promise<number> {
  const text = await (await fetch(url)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('controller_runtime_reconcile_total{'));
  const own = lines.filter((line) => line.includes(`controller="${controller}"`));
  return own.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

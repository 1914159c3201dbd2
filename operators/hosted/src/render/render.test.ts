import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import type { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import type { ConfigMap, PodSpec, Secret, Service } from '@hangar/client/kinds/core-v1';
import { Namespace } from '@hangar/client/kinds/core-v1';
import type { NetworkPolicy } from '@hangar/client/kinds/networking-v1';
import type { PodDisruptionBudget } from '@hangar/client/kinds/policy-v1';
import { startTestCluster } from '@hangar/testkit';
import { clusterNameLabel } from '../api/index.ts';
import { newestRendering, planeOf, renderAll, renderings } from './index.ts';
import type { ClusterObject, Plane } from './index.ts';
import { hostedControlPlane, objectIn, plane, withApiServer } from './testing/planes.ts';

const rendering = renderings.get('1')!;
const all = (of: Plane) => [...renderAll(rendering, of, {}), ...rendering.audit(of, [])];
const deployment = (of: Plane, name: string) => objectIn<Deployment>(all(of), 'Deployment', `demo-${name}`);
const podOf = (of: Plane, name: string): PodSpec => deployment(of, name).spec!.template.spec!;
const argsOf = (of: Plane, name = 'apiserver'): string[] => podOf(of, name).containers[0]!.args!;
const etcdOf = (of: Plane) => objectIn<StatefulSet>(all(of), 'StatefulSet', 'demo-etcd');
const policyOf = (of: Plane, name: string) => objectIn<NetworkPolicy>(all(of), 'NetworkPolicy', `demo-${name}`).spec!;
const textOf = (secret: Secret, key: string): string => Buffer.from(secret.data![key]!, 'base64').toString();

/** A plane with every setting. */
const complete = plane({
  gateway: { namespace: 'gateways', name: 'shared' },
  controlPlaneEndpoint: { host: '192.0.2.7', port: 443 },
  deployment: {
    apiServer: {
      image: { registry: 'registry.example.com', repository: 'mirror/kube-apiserver', tag: 'sha256:abc' },
      priorityClassName: 'critical',
      mounts: { extra: { path: '/etc/extra', configMap: { name: 'extra' } } },
      audit: {
        policy: { rules: [{ level: 'Metadata' }] },
        webhook: { targets: [{ server: 'https://a.example.com' }, { server: 'https://b.example.com' }] },
      },
    },
    controllerManager: { replicas: 1 },
  },
  oidcProviders: { 'https://sso.example.com': { audiences: ['a'], claimMappings: { username: 'claims.sub' } } },
});

describe('the rendering of a minimal control plane', () => {
  test('has the objects of all components', () => {
    const names = all(plane()).map(({ object }) => `${object.kind} ${object.metadata.name}`);
    assert.deepEqual(names, [
      'Service apiserver-demo',
      'Service etcd-demo',
      'StatefulSet demo-etcd',
      'PodDisruptionBudget demo-etcd',
      'NetworkPolicy demo-etcd',
      'ConfigMap demo-component-kubeconfigs',
      'Deployment demo-apiserver',
      'PodDisruptionBudget demo-apiserver',
      'NetworkPolicy demo-apiserver',
      'Deployment demo-controller-manager',
      'PodDisruptionBudget demo-controller-manager',
      'NetworkPolicy demo-controller-manager',
      'Deployment demo-scheduler',
      'PodDisruptionBudget demo-scheduler',
      'NetworkPolicy demo-scheduler',
    ]);
  });

  test('every object has the label of the Cluster and the HostedControlPlane as its controller', () => {
    for (const { object } of [...all(plane()), ...all(complete)]) {
      assert.equal(object.metadata.labels?.[clusterNameLabel], 'demo');
      const [owner, ...more] = object.metadata.ownerReferences!;
      assert.equal(owner!.kind, 'HostedControlPlane');
      assert.equal(owner!.controller, true);
      assert.equal(more.length, 0);
    }
  });

  test('has the images of the version, and the etcd image that kubeadm uses for it', () => {
    const images = ['apiserver', 'controller-manager', 'scheduler'].map(
      (name) => podOf(plane(), name).containers[0]!.image,
    );
    assert.deepEqual(images, [
      'registry.k8s.io/kube-apiserver:v1.36.4',
      'registry.k8s.io/kube-controller-manager:v1.36.4',
      'registry.k8s.io/kube-scheduler:v1.36.4',
    ]);
    assert.equal(etcdOf(plane()).spec!.template.spec!.containers[0]!.image, 'registry.k8s.io/etcd:3.6.8-0');
  });

  test('has replicas: three API servers, three members, and two of each controller', () => {
    assert.equal(deployment(plane(), 'apiserver').spec!.replicas, 3);
    assert.equal(etcdOf(plane()).spec!.replicas, 3);
    assert.equal(deployment(plane(), 'controller-manager').spec!.replicas, 2);
    assert.equal(deployment(plane({ replicas: 1 }), 'scheduler').spec!.replicas, 1);
    assert.equal(deployment(complete, 'controller-manager').spec!.replicas, 1);
  });

  test('pods meet the restricted standard, spread over nodes and zones, and mount no token', () => {
    const pods = [
      etcdOf(complete).spec!.template.spec!,
      ...['apiserver', 'scheduler'].map((name) => podOf(complete, name)),
    ];
    for (const pod of pods) {
      assert.equal(pod.automountServiceAccountToken, false);
      assert.equal(pod.securityContext!.runAsNonRoot, true);
      assert.deepEqual(pod.securityContext!.seccompProfile, { type: 'RuntimeDefault' });
      for (const { securityContext } of [...pod.containers, ...(pod.initContainers ?? [])]) {
        assert.equal(securityContext!.allowPrivilegeEscalation, false);
        assert.deepEqual(securityContext!.capabilities, { drop: ['ALL'] });
      }
      const [term] = pod.affinity!.podAntiAffinity!.preferredDuringSchedulingIgnoredDuringExecution!;
      assert.equal(term!.podAffinityTerm.topologyKey, 'kubernetes.io/hostname');
      assert.equal(pod.topologySpreadConstraints![0]!.topologyKey, 'topology.kubernetes.io/zone');
    }
  });

  test('at most one pod of a component is disrupted, and no API server is unavailable in a roll-out', () => {
    for (const name of ['etcd', 'apiserver', 'controller-manager', 'scheduler']) {
      const { spec } = objectIn<PodDisruptionBudget>(all(plane()), 'PodDisruptionBudget', `demo-${name}`);
      assert.equal(spec!.maxUnavailable, 1);
    }
    const { strategy } = deployment(plane(), 'apiserver').spec!;
    assert.deepEqual(strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  });
});

describe('etcd', () => {
  test('members know each other by the names of the headless Service', () => {
    const { env } = etcdOf(plane()).spec!.template.spec!.containers[0]!;
    const variables = ['ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE', 'ETCD_FORCE_NEW_CLUSTER'];
    for (const key of variables) {
      const valueFrom = { configMapKeyRef: { name: 'demo-etcd-members', key } };
      assert.deepEqual(
        env!.find(({ name }) => name === key),
        { name: key, valueFrom },
      );
    }
    assert.ok(rendering.reserved(plane()).etcd.includes('initial-cluster'));
    const { spec } = objectIn<Service>(all(plane()), 'Service', 'etcd-demo');
    assert.equal(spec!.clusterIP, 'None');
    assert.equal(spec!.publishNotReadyAddresses, true);
  });

  test('the volume has the size of the spec, and goes with the control plane', () => {
    const { spec } = etcdOf(plane({ etcd: { replicas: 1, volumeSize: '20Gi' } }));
    assert.deepEqual(spec!.volumeClaimTemplates![0]!.spec!.resources, { requests: { storage: '20Gi' } });
    assert.deepEqual(spec!.persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Delete', whenScaled: 'Retain' });
  });

  test('the version of the spec replaces the default, and one that is in progress replaces both', () => {
    const image = (of: Plane): string | undefined => etcdOf(of).spec!.template.spec!.containers[0]!.image;
    assert.equal(image(plane({ etcd: { version: '3.6.9' } })), 'registry.k8s.io/etcd:3.6.9-0');
    assert.equal(image(plane({ etcd: { version: '3.6.9-2' } })), 'registry.k8s.io/etcd:3.6.9-2');
    assert.equal(image({ ...plane(), etcdTag: '3.5.26-0' }), 'registry.k8s.io/etcd:3.5.26-0');
    const own = plane({ etcd: { image: { registry: 'r.example', tag: 'x' }, version: '3.6.9' } });
    assert.equal(image(own), 'r.example/etcd:x');
    assert.equal(image({ ...own, etcdTag: 'y' }), 'r.example/etcd:y');
  });

  test('the quota leaves room for a copy of the database and for the log, and is at most 8Gi', () => {
    const quota = (of: Plane): string | undefined =>
      etcdOf(of).spec!.template.spec!.containers[0]!.args!.find((one) => one.startsWith('--quota-backend-bytes='));
    const bytes = (mebibytes: number): string => `--quota-backend-bytes=${mebibytes * 2 ** 20}`;
    assert.equal(quota(plane()), bytes(3_840));
    assert.equal(quota(plane({ etcd: { volumeSize: '640Mi' } })), bytes(160));
    assert.equal(quota(plane({ etcd: { volumeSize: '1Ti' } })), bytes(8_192));
    assert.equal(quota({ ...plane(), grownEtcdVolumeSize: '12Gi' }), bytes(5_888));
    assert.equal(quota({ ...plane(), grownEtcdVolumeSize: '12Gi', etcdCapacity: '8Gi' }), bytes(3_840));
    assert.equal(quota(plane({ etcd: { args: { 'quota-backend-bytes': '1048576' } } })), bytes(1));
  });

  test('a volume that has grown keeps its size, unless the spec has a larger one', () => {
    const size = (of: Plane): unknown =>
      etcdOf(of).spec!.volumeClaimTemplates![0]!.spec!.resources!.requests!['storage'];
    assert.equal(size({ ...plane(), grownEtcdVolumeSize: '12Gi' }), '12Gi');
    assert.equal(size({ ...plane({ etcd: { volumeSize: '10Gi' } }), grownEtcdVolumeSize: '12Gi' }), '12Gi');
    assert.equal(size({ ...plane({ etcd: { volumeSize: '20Gi' } }), grownEtcdVolumeSize: '12Gi' }), '20Gi');
  });
});

describe('arguments', () => {
  test('of users override defaults, but not reserved arguments', () => {
    const args = argsOf(withApiServer({ args: { profiling: 'true', v: '4', 'etcd-servers': 'https://elsewhere' } }));
    assert.ok(args.includes('--profiling=true'));
    assert.ok(args.includes('--v=4'));
    const members = [0, 1, 2].map((member) => `https://demo-etcd-${member}.etcd-demo.team.svc:2379`);
    assert.ok(args.includes(`--etcd-servers=${members.join(',')}`));
    // Watches do not delay the exit of an API server.
    assert.ok(args.includes('--shutdown-watch-termination-grace-period=10s'));
    assert.deepEqual(args, args.toSorted());
    assert.ok(rendering.reserved(plane())['kube-apiserver'].includes('etcd-servers'));
  });

  test('have the networks of the Cluster, and the advertised address if the endpoint is one', () => {
    const cluster: ClusterObject = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'demo' },
      spec: {
        clusterNetwork: {
          services: { cidrBlocks: ['10.10.0.0/16'] },
          pods: { cidrBlocks: ['10.20.0.0/16', 'fd00::/48'] },
        },
        controlPlaneEndpoint: { host: '192.0.2.1', port: 443 },
      },
    };
    const of = plane({}, cluster);
    assert.ok(argsOf(of).includes('--service-cluster-ip-range=10.10.0.0/16'));
    assert.ok(argsOf(of).includes('--advertise-address=192.0.2.1'));
    assert.ok(argsOf(of, 'controller-manager').includes('--cluster-cidr=10.20.0.0/16,fd00::/48'));
    for (const host of ['demo.example.com', '127.0.0.1']) {
      const { length } = argsOf(plane({ controlPlaneEndpoint: { host, port: 443 } })).filter((one) =>
        one.includes('advertise'),
      );
      assert.equal(length, 0, host);
    }
    const [serving] = rendering.certificates(of);
    assert.ok(serving!.hosts!.includes('10.10.0.1'));
    assert.ok(serving!.hosts!.includes('192.0.2.1'));
  });

  test('API servers listen on the port of an endpoint that they advertise, unless it is privileged', () => {
    const portsOf = (of: Plane) => {
      const [container] = podOf(of, 'apiserver').containers;
      const [port, probed] = [container!.ports![0]!.containerPort, container!.readinessProbe!.httpGet!.port];
      assert.ok(argsOf(of).includes(`--secure-port=${port}`));
      assert.deepEqual(policyOf(of, 'scheduler').egress![0]!.ports, [{ protocol: 'TCP', port }]);
      assert.deepEqual(policyOf(of, 'apiserver').ingress![0]!.ports, [{ protocol: 'TCP', port }]);
      return [port, probed];
    };
    assert.deepEqual(portsOf(plane()), [6443, 6443]);
    assert.deepEqual(portsOf(plane({ controlPlaneEndpoint: { host: '192.0.2.1', port: 30123 } })), [30123, 30123]);
    assert.deepEqual(portsOf(plane({ controlPlaneEndpoint: { host: '192.0.2.1', port: 443 } })), [6443, 6443]);
    assert.deepEqual(portsOf(plane({ controlPlaneEndpoint: { host: '127.0.0.1', port: 30123 } })), [6443, 6443]);
  });
});

describe('settings of the API server', () => {
  test('image by registry, repository and digest; priority class; resources', () => {
    const pod = podOf(complete, 'apiserver');
    assert.equal(pod.containers[0]!.image, 'registry.example.com/mirror/kube-apiserver@sha256:abc');
    assert.equal(pod.priorityClassName, 'critical');
    const resources = { limits: { memory: '1Gi' } };
    assert.deepEqual(podOf(withApiServer({ resources }), 'apiserver').containers[0]!.resources, resources);
  });

  test('mounts become volumes that cannot collide with others', () => {
    const pod = podOf(
      withApiServer({ mounts: { pki: { path: '/etc/mine', secret: { secretName: 'mine' } } } }),
      'apiserver',
    );
    assert.deepEqual(pod.volumes!.at(-1), { name: 'extra-pki', secret: { secretName: 'mine' } });
    const mount = { name: 'extra-pki', mountPath: '/etc/mine', readOnly: true };
    assert.deepEqual(pod.containers[0]!.volumeMounts!.at(-1), mount);
  });

  test('an audit policy without a webhook logs to the standard output', () => {
    const of = withApiServer({ audit: { policy: { rules: [{ level: 'Metadata' }] } } });
    assert.ok(argsOf(of).includes('--audit-log-path=-'));
    const secret = objectIn<Secret>(all(of), 'Secret', 'demo-audit');
    const policy = { rules: [{ level: 'Metadata' }], apiVersion: 'audit.k8s.io/v1', kind: 'Policy' };
    assert.deepEqual(JSON.parse(textOf(secret, 'policy.yaml')), policy);
  });

  test('an audit webhook with one target gets its token, with two targets a proxy in the pod', () => {
    const audit = { policy: { rules: [{ level: 'Metadata' as const }] }, mode: 'blocking' as const };
    const one = withApiServer({ audit: { ...audit, webhook: { targets: [{ server: 'https://a.example.com/x' }] } } });
    assert.ok(argsOf(one).includes('--audit-webhook-mode=blocking'));
    const secret = objectIn<Secret>(rendering.audit(one, ['of-a']), 'Secret', 'demo-audit');
    const config = JSON.parse(textOf(secret, 'webhook.conf')) as { clusters: unknown; users: unknown };
    assert.deepEqual(config.clusters, [{ name: 'audit', cluster: { server: 'https://a.example.com/x' } }]);
    assert.deepEqual(config.users, [{ name: 'audit', user: { token: 'of-a' } }]);
    assert.equal(podOf(one, 'apiserver').initContainers, undefined);
    const two = objectIn<Secret>(rendering.audit(complete, ['of-a', 'of-b"; evil']), 'Secret', 'demo-audit');
    const proxy = textOf(two, 'nginx.conf');
    assert.match(proxy, /Bearer of-a"/);
    assert.match(proxy, /Bearer of-b; evil"/, 'a token cannot end its directive');
    assert.match(proxy, /mirror \/mirror-1;/);
    assert.ok(!textOf(two, 'webhook.conf').includes('of-a'));
    assert.equal(podOf(complete, 'apiserver').initContainers![0]!.restartPolicy, 'Always');
  });

  test('OpenID Connect providers become an AuthenticationConfiguration', () => {
    const of = plane({
      oidcProviders: {
        'https://b.example.com': {
          audiences: ['x', 'y'],
          claimMappings: { username: 'claims.email', groups: 'claims.groups' },
        },
        'https://a.example.com': {
          audiences: ['x'],
          certificateAuthority: 'PEM',
          claimMappings: { username: 'claims.sub' },
        },
      },
    });
    assert.ok(argsOf(of).includes('--authentication-config=/etc/kubernetes/authentication/config.yaml'));
    const { data } = objectIn<ConfigMap>(all(of), 'ConfigMap', 'demo-authentication');
    assert.deepEqual(JSON.parse(data!['config.yaml']!), {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: { url: 'https://a.example.com', certificateAuthority: 'PEM', audiences: ['x'] },
          claimMappings: { username: { expression: 'claims.sub' } },
        },
        {
          issuer: { url: 'https://b.example.com', audiences: ['x', 'y'], audienceMatchPolicy: 'MatchAny' },
          claimMappings: { username: { expression: 'claims.email' }, groups: { expression: 'claims.groups' } },
        },
      ],
    });
  });
});

test('external users become an AuthenticationConfiguration as they are', () => {
  const jwt = [
    {
      issuer: { url: 'https://a.example.com', discoveryURL: 'https://b.example.com/keys', audiences: ['x'] },
      claimValidationRules: [{ claim: 'tenant', requiredValue: 'blue' }],
      claimMappings: {
        username: { claim: 'sub', prefix: '' },
        groups: { claim: 'groups', prefix: 'oidc:' },
        uid: { claim: 'id' },
        extra: [{ key: 'example.com/level', valueExpression: 'claims.level' }],
      },
      userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
    },
  ];
  const of = plane({ authentication: { jwt } });
  assert.ok(argsOf(of).includes('--authentication-config=/etc/kubernetes/authentication/config.yaml'));
  const { data } = objectIn<ConfigMap>(all(of), 'ConfigMap', 'demo-authentication');
  const configuration = JSON.parse(data!['config.yaml']!) as object;
  assert.deepEqual(configuration, {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt,
  });
  assert.ok(!argsOf(plane({ authentication: { jwt: [] } })).some((one) => one.startsWith('--authentication-config')));
});

describe('konnectivity', () => {
  const tunnelled = plane({ konnectivityClient: {} });

  test('exists if the spec has settings of its agents or servers, or if the operator wants it always', () => {
    const options = { name: 'demo', serviceType: 'NodePort' as const };
    assert.equal(plane().hasKonnectivity, false);
    assert.equal(tunnelled.hasKonnectivity, true);
    assert.equal(withApiServer({ konnectivity: {} }).hasKonnectivity, true);
    assert.equal(planeOf(hostedControlPlane(), { ...options, konnectivity: 'always' }).hasKonnectivity, true);
    assert.deepEqual(policyOf(tunnelled, 'apiserver').ingress, [
      { ports: [6443, 8132].map((port) => ({ protocol: 'TCP', port })) },
    ]);
  });

  test('a server runs beside each API server, which uses its socket', () => {
    const { containers } = podOf(tunnelled, 'apiserver');
    const server = containers.find(({ name }) => name === 'konnectivity-server')!;
    assert.equal(server.image, 'registry.k8s.io/kas-network-proxy/proxy-server:v0.36.0');
    const socket = server.args!.find((one) => one.startsWith('--uds-name='))!.slice('--uds-name='.length);
    assert.ok(containers[0]!.args!.includes('--egress-selector-config-file=/etc/kubernetes/egress/egress.yaml'));
    const { data } = objectIn<ConfigMap>(all(tunnelled), 'ConfigMap', 'demo-egress');
    assert.deepEqual(JSON.parse(data!['egress.yaml']!), {
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        { name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: socket } } } },
      ],
    });
    for (const { volumeMounts } of containers) {
      const shared = volumeMounts!.find(({ name }) => name === 'konnectivity')!;
      assert.equal(shared.mountPath, dirname(socket));
      assert.notEqual(shared.readOnly, true);
    }
  });

  test('the spec sets image, resources and arguments of the server', () => {
    const konnectivity = {
      image: { registry: 'registry.example.com' },
      resources: { requests: { cpu: '1' } },
      args: { 'proxy-strategies': 'default', v: '4' },
    };
    const { containers } = podOf(withApiServer({ konnectivity }), 'apiserver');
    const server = containers.find(({ name }) => name === 'konnectivity-server')!;
    assert.equal(server.image, 'registry.example.com/kas-network-proxy/proxy-server:v0.36.0');
    assert.deepEqual(server.resources, konnectivity.resources);
    assert.ok(server.args!.includes('--proxy-strategies=default'));
    assert.ok(server.args!.includes('--v=4'));
  });
});

describe('the Service of the API server', () => {
  const serviceOf = (spec: Parameters<typeof plane>[0]) =>
    objectIn<Service>(rendering.apiService(plane(spec)), 'Service', 'apiserver-demo');

  test('has the type, annotations and class of the spec', () => {
    const { spec, metadata } = serviceOf({
      service: { type: 'LoadBalancer', annotations: { a: 'b' }, loadBalancerClass: 'c' },
    });
    assert.equal(spec!.type, 'LoadBalancer');
    assert.equal(spec!.loadBalancerClass, 'c');
    assert.deepEqual(metadata.annotations, { a: 'b' });
  });

  test('has the default type of the operator, or ClusterIP with a gateway', () => {
    const options = { name: 'demo', serviceType: 'NodePort' as const };
    assert.equal(planeOf(hostedControlPlane(), options).serviceType, 'NodePort');
    const gateway = { namespace: 'a', name: 'b' };
    assert.equal(planeOf(hostedControlPlane({ gateway }), options).serviceType, 'ClusterIP');
  });
});

test('NetworkPolicies allow exactly the connections of the table', () => {
  const selects = (component: string) => ({
    podSelector: { matchLabels: { [clusterNameLabel]: 'demo', 'app.kubernetes.io/component': component } },
  });
  const tcp = (...ports: number[]) => ports.map((port) => ({ protocol: 'TCP', port }));
  const dns = { ports: [{ protocol: 'UDP', port: 53 }, ...tcp(53)] };
  const provider = { 'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane' };
  const operator = { namespaceSelector: {}, podSelector: { matchLabels: provider } };
  assert.deepEqual(policyOf(plane(), 'etcd').ingress, [
    { from: [selects('kube-apiserver'), operator], ports: tcp(2379) },
    { from: [selects('etcd')], ports: tcp(2379, 2380) },
  ]);
  assert.deepEqual(policyOf(plane(), 'etcd').egress, [{ to: [selects('etcd')], ports: tcp(2379, 2380) }, dns]);
  assert.deepEqual(policyOf(plane(), 'apiserver').ingress, [{ ports: tcp(6443) }]);
  assert.deepEqual(policyOf(plane(), 'apiserver').policyTypes, ['Ingress']);
  for (const name of ['controller-manager', 'scheduler']) {
    const { ingress, egress, policyTypes } = policyOf(plane(), name);
    assert.equal(ingress, undefined);
    assert.deepEqual(egress, [{ to: [selects('kube-apiserver')], ports: tcp(6443) }, dns]);
    assert.deepEqual(policyTypes, ['Ingress', 'Egress']);
  }
});

test('a server accepts all objects, and knows every field', async () => {
  await using cluster = await startTestCluster();
  await cluster.client.create(Namespace, { metadata: { name: 'team' } });
  for (const one of [plane(), complete]) {
    for (const { kind, object } of all(one)) {
      const options = { fieldManager: 'test', force: true, fieldValidation: 'Strict' as const };
      await cluster.client.apply(kind, object, options);
    }
  }
});

test('the output of a released rendering does not change', () => {
  const digest = createHash('sha256')
    .update(JSON.stringify([all(plane()), all(complete)]))
    .digest('hex');
  assert.equal(newestRendering, '1');
  assert.equal(
    digest,
    '02b41a33a11cd1fefb35f2ca402aaf8de1b373dfd1069449f2d4be93cce41f9f',
    'the rendering is not released yet: update the digest; later, add a version',
  );
});

/**
 * kube-controller-manager and kube-scheduler of the management plane, as pods of the process runtime, as kubeadm runs them: bound to the
 * node by their spec, so that they need no scheduler. The essential controllers of Hangar run in the server; kube-controller-manager runs
 * the controllers of workloads only.
 */

import { createHash } from 'node:crypto';
import type { ApiObject, ApplyConfiguration, Client, Kind } from '@hangar/client';
import { find } from '@hangar/client';
import { ConfigMap, Pod, ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { PodSpec } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { hasCode } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';

export interface SystemPodsOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** Of the management plane. */
  readonly url: string;
  /** CA of the certificate of the port; PEM. */
  readonly servingCa: string;
  /** Several servers share the store: their components elect a leader. */
  readonly electsLeader: boolean;
  /** Returns the image of a program. */
  readonly imageOf: (program: string) => Promise<string>;
}

const namespace = 'kube-system';
const fieldManager = 'hangar';
const digestAnnotation = 'hangar.dev/spec-digest';
const folder = '/etc/kubernetes';

/**
 * Controllers that neither the server nor the process runtime runs. The runtime binds its volumes and forwards connections to Services
 * itself; EndpointSlices cannot have the loopback addresses of its pods.
 */
const controllers = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'disruption-controller',
  'horizontal-pod-autoscaler-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
];

interface Component {
  readonly name: string;
  readonly clusterRoles: readonly string[];
  readonly arguments: readonly string[];
}

const components: readonly Component[] = [
  {
    name: 'kube-controller-manager',
    clusterRoles: ['system:kube-controller-manager'],
    arguments: [
      '--use-service-account-credentials',
      `--controllers=${controllers.join(',')}`,
      '--kube-api-qps=100',
      '--kube-api-burst=200',
    ],
  },
  {
    name: 'kube-scheduler',
    clusterRoles: ['system:kube-scheduler', 'system:volume-scheduler'],
    arguments: [`--authentication-kubeconfig=${folder}/kubeconfig`, `--authorization-kubeconfig=${folder}/kubeconfig`],
  },
];

/** Creates missing objects, and replaces pods of an earlier version. Can be repeated: it writes only differences. */
export async function ensureSystemPods(options: SystemPodsOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(components.map((component) => ensureComponent(component, options, signal)));
}

async function ensureComponent(component: Component, options: SystemPodsOptions, signal: AbortSignal): Promise<void> {
  const { client, nodeName, imageOf } = options;
  const { name } = component;
  const key = { namespace, name: `${name}-${nodeName}` };
  const existing = await find(client, Pod, key, { signal });
  const spec = podSpec(component, options, await imageOf(name));
  const digest = digestOf([spec, options.url, options.servingCa]);
  if (existing?.metadata.annotations?.[digestAnnotation] === digest) return;
  for (const { kind, object } of accessObjects(component, options)) {
    await client.apply(kind, object as ApplyConfiguration<ApiObject>, { fieldManager, force: true, signal });
  }
  if (existing) {
    // The next call creates the new pod when the old one is gone.
    await client.delete(Pod, key, { preconditions: { uid: existing.metadata.uid! }, signal });
    return;
  }
  const labels = { component: name, tier: 'control-plane' };
  try {
    await client.create(
      Pod,
      { metadata: { ...key, labels, annotations: { [digestAnnotation]: digest } }, spec },
      { signal },
    );
  } catch (error) {
    if (!hasCode(error, 'AlreadyExists')) throw error;
  }
}

function podSpec({ name, arguments: args }: Component, { nodeName, electsLeader }: SystemPodsOptions, image: string) {
  return {
    nodeName,
    serviceAccountName: name,
    automountServiceAccountToken: false,
    priorityClassName: 'system-cluster-critical',
    terminationGracePeriodSeconds: 5,
    tolerations: [{ operator: 'Exists' }],
    volumes: [
      {
        name: 'access',
        projected: {
          // The path of the token in the kubeconfig is relative to it.
          sources: [{ configMap: { name: accessName(name) } }, { serviceAccountToken: { path: 'token' } }],
        },
      },
    ],
    containers: [
      {
        name,
        image,
        command: [
          name,
          `--kubeconfig=${folder}/kubeconfig`,
          `--leader-elect=${electsLeader}`,
          // Its metrics need a certificate; the supervision of the runtime restarts it.
          '--secure-port=0',
          ...args,
        ],
        volumeMounts: [{ name: 'access', mountPath: folder, readOnly: true }],
      },
    ],
  } satisfies PodSpec;
}

const accessName = (component: string): string => `${component}-access`;

interface AccessObject {
  readonly kind: Kind<ApiObject>;
  readonly object: unknown;
}

/** The service account of a component, its rights, and its kubeconfig. */
function accessObjects({ name, clusterRoles }: Component, { url, servingCa }: SystemPodsOptions): AccessObject[] {
  const subjects = [{ kind: 'ServiceAccount', namespace, name }];
  const object = (kind: unknown, body: object): AccessObject => {
    const { apiVersion, kind: kindName } = kind as Kind<ApiObject>;
    return { kind: kind as Kind<ApiObject>, object: { apiVersion, kind: kindName, ...body } };
  };
  const roleRef = (kind: 'ClusterRole' | 'Role', role: string) => ({
    apiGroup: 'rbac.authorization.k8s.io',
    kind,
    name: role,
  });
  return [
    object(ServiceAccount, { metadata: { namespace, name } }),
    object(ConfigMap, {
      metadata: { namespace, name: accessName(name) },
      data: {
        kubeconfig: kubeconfig({
          name: 'hangar',
          user: name,
          server: url,
          authority: servingCa,
          credentials: { tokenFile: 'token' },
        }),
      },
    }),
    ...clusterRoles.map((role) =>
      object(ClusterRoleBinding, {
        metadata: { name: `hangar:${name}:${role.replace('system:', '')}` },
        roleRef: roleRef('ClusterRole', role),
        subjects,
      }),
    ),
    object(RoleBinding, {
      metadata: { namespace, name: `hangar:${name}:extension-apiserver-authentication-reader` },
      roleRef: roleRef('Role', 'extension-apiserver-authentication-reader'),
      subjects,
    }),
  ];
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/**
 * kube-proxy: a DaemonSet that makes the cluster IPs of Services reachable on every node, with the objects and names of a cluster that
 * kubeadm created. kube-proxy connects to the address that nodes join, because it implements the network of Services itself.
 */

import { createHash } from 'node:crypto';
import { DaemonSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { argumentsOf } from './arguments.ts';
import { nodeBootstrappers } from './join.ts';
import { everywhere, onLinux, system } from './pods.ts';
import type { PodSettings } from './pods.ts';
import { rendered } from './rendered.ts';
import type { Rendered } from './rendered.ts';

export interface KubeProxyOptions extends PodSettings {
  readonly image: string;
  /** URL of the API server for nodes. */
  readonly server: string;
  /** Fields of the KubeProxyConfiguration. */
  readonly configuration?: Readonly<Record<string, unknown>> | undefined;
}

const name = 'kube-proxy';
const rbacGroup = 'rbac.authorization.k8s.io';
const folder = '/var/lib/kube-proxy';

export function kubeProxyObjects(options: KubeProxyOptions): Rendered[] {
  const data = { 'kubeconfig.conf': kubeconfig(options.server), 'config.conf': configuration(options) };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] }];
  return [
    rendered(ServiceAccount, { metadata: system(name) }),
    rendered(ClusterRoleBinding, {
      metadata: { name: 'kubeadm:node-proxier' },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'system:node-proxier' },
      subjects: [{ kind: 'ServiceAccount', ...system(name) }],
    }),
    rendered(Role, { metadata: system(name), rules }),
    rendered(RoleBinding, {
      metadata: system(name),
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: nodeBootstrappers }],
    }),
    rendered(ConfigMap, { metadata: { ...system(name), labels: { app: name } }, data }),
    daemonSet(options, digestOf(data)),
  ];
}

/** The pods have the digest of their configuration, because kube-proxy reads it only at its start. */
function daemonSet(options: KubeProxyOptions, digest: string): Rendered {
  const { image, imagePullPolicy, resources, priorityClassName, args } = options;
  const labels = { 'k8s-app': name };
  return rendered(DaemonSet, {
    metadata: { ...system(name), labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels, annotations: { 'hangar.dev/config-digest': digest } },
        spec: {
          serviceAccountName: name,
          priorityClassName: priorityClassName ?? 'system-node-critical',
          hostNetwork: true,
          nodeSelector: onLinux,
          tolerations: everywhere,
          containers: [
            {
              name,
              image,
              imagePullPolicy: imagePullPolicy ?? 'IfNotPresent',
              command: [
                '/usr/local/bin/kube-proxy',
                ...argumentsOf({ config: `${folder}/config.conf`, 'hostname-override': '$(NODE_NAME)' }, args),
              ],
              env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
              ...(resources ? { resources } : {}),
              securityContext: { privileged: true },
              volumeMounts: [
                { name, mountPath: folder },
                { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
                { name: 'lib-modules', mountPath: '/lib/modules', readOnly: true },
              ],
            },
          ],
          volumes: [
            { name, configMap: { name } },
            { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
            { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
          ],
        },
      },
    },
  });
}

const digestOf = (value: object): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

const kubeconfig = (server: string): string => `apiVersion: v1
kind: Config
clusters:
- name: default
  cluster:
    certificate-authority: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
    server: ${server}
users:
- name: default
  user:
    tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
contexts:
- name: default
  context: { cluster: default, namespace: default, user: default }
current-context: default
`;

/** JSON is YAML. The first fields exist in any case, so that they are easy to find. */
function configuration(options: KubeProxyOptions): string {
  const { mode = '', conntrack = {}, bindAddress = '0.0.0.0', ...others } = options.configuration ?? {};
  const fields = {
    bindAddress,
    clientConnection: { kubeconfig: `${folder}/kubeconfig.conf` },
    mode,
    conntrack,
    ...others,
  };
  return [
    'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
    'kind: KubeProxyConfiguration',
    ...Object.entries(fields).map(([field, value]) => `${field}: ${JSON.stringify(value)}`),
    '',
  ].join('\n');
}

/**
 * The objects that a joining node expects, as kubeadm creates them: two ConfigMaps with the configuration, and the permissions of bearers
 * of bootstrap tokens. Names and subjects are those of kubeadm, because nodes and tools look for them.
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { PolicyRule, Subject } from '@hangar/client/kinds/rbac-v1';
import { dnsAddress } from './network.ts';
import type { ClusterNetwork } from './network.ts';
import { rendered } from './rendered.ts';
import type { Rendered } from './rendered.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
/** The group of nodes that join with a token of kubeadm. */
export const nodeBootstrappers = 'system:bootstrappers:kubeadm:default-node-token';
const nodes = 'system:nodes';
const defaultDomain = 'cluster.local';

export interface JoinOptions {
  readonly clusterName: string;
  /** URL that nodes join. */
  readonly server: string;
  readonly version: string;
  /** Absent: not known. */
  readonly network?: ClusterNetwork | undefined;
  /** Whether kubelets request their serving certificates from the control plane, which requires an approver. */
  readonly serverTlsBootstrap: boolean;
}

export function joinObjects(options: JoinOptions): Rendered[] {
  const readers = [group(nodeBootstrappers), group(nodes)];
  return [
    configMap('kubeadm-config', { ClusterConfiguration: clusterConfiguration(options) }),
    configMap('kubelet-config', { kubelet: kubeletConfiguration(options) }),
    ...readable('kube-system', 'kubeadm:nodes-kubeadm-config', 'kubeadm-config', readers),
    ...readable('kube-system', 'kubeadm:kubelet-config', 'kubelet-config', readers),
    ...readable('kube-public', 'kubeadm:bootstrap-signer-clusterinfo', 'cluster-info', [user('system:anonymous')]),
    rendered(ClusterRole, {
      metadata: { name: 'kubeadm:get-nodes' },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    }),
    bound('kubeadm:get-nodes', 'kubeadm:get-nodes', nodeBootstrappers),
    bound('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', nodeBootstrappers),
    bound('kubeadm:node-autoapprove-bootstrap', approval('nodeclient'), nodeBootstrappers),
    bound('kubeadm:node-autoapprove-certificate-rotation', approval('selfnodeclient'), nodes),
  ];
}

const approval = (what: string): string => `system:certificates.k8s.io:certificatesigningrequests:${what}`;
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });

const configMap = (name: string, data: Record<string, string>): Rendered =>
  rendered(ConfigMap, { metadata: { namespace: 'kube-system', name }, data });

const bound = (name: string, role: string, groupName: string): Rendered =>
  rendered(ClusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: [group(groupName)],
  });

function readable(namespace: string, name: string, resource: string, subjects: Subject[]): Rendered[] {
  const rules: PolicyRule[] = [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: [resource], verbs: ['get'] },
  ];
  const roleRef = { apiGroup: rbacGroup, kind: 'Role', name };
  return [
    rendered(Role, { metadata: { namespace, name }, rules }),
    rendered(RoleBinding, { metadata: { namespace, name }, roleRef, subjects }),
  ];
}

function clusterConfiguration({ clusterName, server, version, network }: JoinOptions): string {
  const { hostname, port } = new URL(server);
  const { domain = defaultDomain, serviceCidrs = [], podCidrs = [] } = network ?? {};
  return [
    'apiVersion: kubeadm.k8s.io/v1beta4',
    'kind: ClusterConfiguration',
    `clusterName: ${clusterName}`,
    `controlPlaneEndpoint: "${hostname}:${port || 443}"`,
    `kubernetesVersion: ${version}`,
    'networking:',
    `  dnsDomain: ${domain}`,
    ...(podCidrs.length > 0 ? [`  podSubnet: ${podCidrs.join(',')}`] : []),
    ...(serviceCidrs.length > 0 ? [`  serviceSubnet: ${serviceCidrs.join(',')}`] : []),
    '',
  ].join('\n');
}

/** The cgroup driver is the default of kubeadm; kubelets use that of the container runtime if it reports one. */
export const kubeletConfiguration = ({
  network,
  serverTlsBootstrap,
}: Pick<JoinOptions, 'network' | 'serverTlsBootstrap'>): string =>
  [
    'apiVersion: kubelet.config.k8s.io/v1beta1',
    'kind: KubeletConfiguration',
    'authentication:',
    '  anonymous:',
    '    enabled: false',
    '  webhook:',
    '    enabled: true',
    '  x509:',
    '    clientCAFile: /etc/kubernetes/pki/ca.crt',
    'authorization:',
    '  mode: Webhook',
    'cgroupDriver: systemd',
    ...(network ? ['clusterDNS:', `- ${dnsAddress(network)}`] : []),
    `clusterDomain: ${network?.domain ?? defaultDomain}`,
    'rotateCertificates: true',
    ...(serverTlsBootstrap ? ['serverTLSBootstrap: true'] : []),
    'staticPodPath: /etc/kubernetes/manifests',
    '',
  ].join('\n');

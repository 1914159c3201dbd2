/**
 * The objects inside a control plane that joining nodes and kubeadm expect: RBAC, cluster-info, kubeadm-config and kubelet-config. Names
 * and subjects are those of kubeadm.
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { Subject } from '@hangar/client/kinds/rbac-v1';
import { rendered } from '../render/index.ts';
import type { Plane, Rendered } from '../render/index.ts';
import { nthAddress } from '../addresses.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
const bootstrappers = 'system:bootstrappers:kubeadm:default-node-token';
const nodes = 'system:nodes';

const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
const approval = (what: string): string => `system:certificates.k8s.io:certificatesigningrequests:${what}`;

/** `server`: the address that nodes join. `authority`: PEM. */
export function workloadObjects(
  plane: Plane,
  { server, authority }: { server: string; authority: string },
): Rendered[] {
  return [
    configMap('kube-system', 'kubeadm-config', { ClusterConfiguration: json(clusterConfiguration(plane, server)) }),
    configMap('kube-system', 'kubelet-config', { kubelet: json(kubeletConfiguration(plane)) }),
    configMap('kube-public', 'cluster-info', { kubeconfig: json(clusterInfo(server, authority)) }),
    ...readable('kube-system', 'kubeadm:nodes-kubeadm-config', 'kubeadm-config', [group(bootstrappers), group(nodes)]),
    ...readable('kube-system', 'kubeadm:kubelet-config', 'kubelet-config', [group(bootstrappers), group(nodes)]),
    ...readable('kube-public', 'kubeadm:bootstrap-signer-clusterinfo', 'cluster-info', [user('system:anonymous')]),
    rendered(ClusterRole, {
      metadata: { name: 'kubeadm:get-nodes' },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    }),
    binding('kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrappers),
    binding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', bootstrappers),
    binding('kubeadm:node-autoapprove-bootstrap', approval('nodeclient'), bootstrappers),
    binding('kubeadm:node-autoapprove-certificate-rotation', approval('selfnodeclient'), nodes),
    binding('kubeadm:cluster-admins', 'cluster-admin', 'kubeadm:cluster-admins'),
  ];
}

const configMap = (namespace: string, name: string, data: Record<string, string>): Rendered =>
  rendered(ConfigMap, { metadata: { namespace, name }, data });

const binding = (name: string, role: string, groupName: string): Rendered =>
  rendered(ClusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: [group(groupName)],
  });

function readable(namespace: string, name: string, resource: string, subjects: Subject[]): Rendered[] {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [resource], verbs: ['get'] }];
  return [
    rendered(Role, { metadata: { namespace, name }, rules }),
    rendered(RoleBinding, {
      metadata: { namespace, name },
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects,
    }),
  ];
}

const clusterConfiguration = ({ name, spec, network }: Plane, server: string): object => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'ClusterConfiguration',
  clusterName: name,
  controlPlaneEndpoint: new URL(server).host,
  kubernetesVersion: spec.version,
  networking: {
    dnsDomain: network.domain,
    serviceSubnet: network.serviceCidrs.join(','),
    podSubnet: network.podCidrs.join(','),
  },
});

/** As kubeadm has it. DNS has the tenth address of the network of Services. */
const kubeletConfiguration = ({ network }: Plane): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
  },
  authorization: { mode: 'Webhook' },
  cgroupDriver: 'systemd',
  clusterDNS: [nthAddress(network.serviceCidrs[0]!, 10)],
  clusterDomain: network.domain,
  rotateCertificates: true,
  staticPodPath: '/etc/kubernetes/manifests',
});

/** A kubeconfig without users: the reader adds its own. */
const clusterInfo = (server: string, authority: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    { name: '', cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } },
  ],
  contexts: null,
  'current-context': '',
  users: null,
});

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

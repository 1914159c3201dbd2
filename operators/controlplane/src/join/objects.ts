/**
 * The objects that a joining node expects, as kubeadm creates them: two ConfigMaps with the configuration, a bootstrap token, and the
 * permissions of its bearers. Names and subjects are those of kubeadm, because nodes and tools look for them.
 */

import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { PolicyRule, Subject } from '@hangar/client/kinds/rbac-v1';
import type { InsideObject } from '../control-plane/inside-object.ts';
import { inside } from '../control-plane/inside-object.ts';
import { dnsAddress } from './dns-address.ts';
import type { JoinMaterial } from './material.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
const bootstrappers = 'system:bootstrappers:kubeadm:default-node-token';

export interface JoinWish {
  readonly path: string;
  /** URL that nodes join. */
  readonly server: string;
  readonly version: string;
  /** Network of the cluster IPs of services. Absent: not known. */
  readonly serviceCidr?: string | undefined;
}

export function joinObjects({ path, server, version, serviceCidr }: JoinWish): InsideObject[] {
  return [
    inside(
      ConfigMap,
      { namespace: 'kube-system', name: 'kubeadm-config' },
      {
        data: { ClusterConfiguration: clusterConfiguration({ path, server, version, serviceCidr }) },
      },
    ),
    inside(
      ConfigMap,
      { namespace: 'kube-system', name: 'kubelet-config' },
      { data: { kubelet: kubeletConfiguration(serviceCidr) } },
    ),
    ...readable('kube-system', 'kubeadm:nodes-kubeadm-config', 'kubeadm-config', [
      group(bootstrappers),
      group('system:nodes'),
    ]),
    ...readable('kube-system', 'kubeadm:kubelet-config', 'kubelet-config', [
      group(bootstrappers),
      group('system:nodes'),
    ]),
    ...readable('kube-public', 'kubeadm:bootstrap-signer-clusterinfo', 'cluster-info', [user('system:anonymous')]),
    inside(
      ClusterRole,
      { name: 'kubeadm:get-nodes' },
      { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }] },
    ),
    bound('kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrappers),
    bound('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', bootstrappers),
    bound('kubeadm:node-autoapprove-bootstrap', approval('nodeclient'), bootstrappers),
    bound('kubeadm:node-autoapprove-certificate-rotation', approval('selfnodeclient'), 'system:nodes'),
  ];
}

const approval = (what: string): string => `system:certificates.k8s.io:certificatesigningrequests:${what}`;
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });

const bound = (name: string, role: string, groupName: string): InsideObject =>
  inside(
    ClusterRoleBinding,
    { name },
    {
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [group(groupName)],
    },
  );

function readable(namespace: string, name: string, configMap: string, subjects: Subject[]): InsideObject[] {
  const rules: PolicyRule[] = [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap], verbs: ['get'] },
  ];
  return [
    inside(Role, { namespace, name }, { rules }),
    inside(RoleBinding, { namespace, name }, { roleRef: { apiGroup: rbacGroup, kind: 'Role', name }, subjects }),
  ];
}

/** The only object that changes every day. */
export function bootstrapToken({ token, expiresAtMs }: JoinMaterial): InsideObject {
  const [id, secret] = token.split('.') as [string, string];
  const texts = {
    'token-id': id,
    'token-secret': secret,
    description: 'for nodes that join; renewed by the control-plane operator',
    expiration: new Date(expiresAtMs).toISOString().replace('.000Z', 'Z'),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': bootstrappers,
  };
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const key = { namespace: 'kube-system', name: `bootstrap-token-${id}` };
  return inside(Secret, key, { type: 'bootstrap.kubernetes.io/token', data });
}

function clusterConfiguration({ path, server, version, serviceCidr }: JoinWish): string {
  const { hostname, port } = new URL(server);
  return [
    'apiVersion: kubeadm.k8s.io/v1beta4',
    'kind: ClusterConfiguration',
    `clusterName: ${path}`,
    `controlPlaneEndpoint: "${hostname}:${port || 443}"`,
    `kubernetesVersion: ${version}`,
    'networking:',
    '  dnsDomain: cluster.local',
    ...(serviceCidr === undefined ? [] : [`  serviceSubnet: ${serviceCidr}`]),
    '',
  ].join('\n');
}

/**
 * With a port for nodes, kubelets request their serving certificates from the control plane, because the server verifies them with the CA
 * of the control plane. The cgroup driver is the default of kubeadm; kubelets use that of the container runtime if it reports one.
 */
export const kubeletConfiguration = (serviceCidr: string | undefined): string =>
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
    ...(serviceCidr === undefined ? [] : ['clusterDNS:', `- ${dnsAddress(serviceCidr)}`]),
    'clusterDomain: cluster.local',
    'rotateCertificates: true',
    ...(serviceCidr === undefined ? [] : ['serverTLSBootstrap: true']),
    'staticPodPath: /etc/kubernetes/manifests',
    '',
  ].join('\n');

/** Names of the objects of a control plane. Names of Services start with a letter, names of other objects with that of the Cluster. */

import type { Plane } from './plane.ts';

type Named = Pick<Plane, 'name' | 'namespace'>;

/** The longest name whose derived names are valid: a StatefulSet adds `-etcd-` and a hash of ten characters to a label. */
export const nameLengthMax = 63 - '-etcd-0123456789'.length;

export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

const workloads: Readonly<Record<Component, string>> = {
  etcd: 'etcd',
  'kube-apiserver': 'apiserver',
  'kube-controller-manager': 'controller-manager',
  'kube-scheduler': 'scheduler',
};

/** Name of the Deployment or StatefulSet, of its PodDisruptionBudget and of its NetworkPolicy. */
export const workloadName = ({ name }: Pick<Plane, 'name'>, component: Component): string =>
  `${name}-${workloads[component]}`;

export const apiServiceName = ({ name }: Pick<Plane, 'name'>): string => `apiserver-${name}`;
/** The headless Service, which gives each member a name. */
export const etcdPeerServiceName = ({ name }: Pick<Plane, 'name'>): string => `etcd-${name}`;

const hostOf = (service: string, { namespace }: Named): string => `${service}.${namespace}.svc`;

/** Host name of the API server inside the management cluster. */
export const apiServiceHost = (plane: Named): string => hostOf(apiServiceName(plane), plane);

/** Port of etcd for its clients. */
export const etcdClientPort = 2379;
/** Port of etcd for its other members. */
export const etcdPeerPort = 2380;
/** Largest number of etcd members. */
export const etcdMembersMax = 5;

/** Host names of the members, by the names of their pods. */
export function etcdMembers(plane: Named, replicas: number): ReadonlyMap<string, string> {
  const service = hostOf(etcdPeerServiceName(plane), plane);
  const pods = Array.from({ length: replicas }, (_, at) => `${workloadName(plane, 'etcd')}-${at}`);
  return new Map(pods.map((pod) => [pod, `${pod}.${service}`]));
}

/** Certificate authorities and the key of service accounts, as the contract of Cluster API names them. */
export const authorityNames = ({ name }: Pick<Plane, 'name'>) =>
  ({ ca: `${name}-ca`, etcd: `${name}-etcd`, proxy: `${name}-proxy`, serviceAccount: `${name}-sa` }) as const;

/** Secrets with a certificate and its key. */
export const certificateNames = ({ name }: Pick<Plane, 'name'>) =>
  ({
    apiServer: `${name}-apiserver`,
    kubeletClient: `${name}-apiserver-kubelet-client`,
    etcdClient: `${name}-apiserver-etcd-client`,
    proxyClient: `${name}-front-proxy-client`,
    etcdServer: `${name}-etcd-server`,
    etcdPeer: `${name}-etcd-peer`,
    controllerManager: `${name}-controller-manager`,
    scheduler: `${name}-scheduler`,
    konnectivityServer: `${name}-konnectivity-server`,
    konnectivityClient: `${name}-konnectivity-client`,
  }) as const;

/** ConfigMap with the certificates of all authorities, without keys. */
/** File in the bundle with the content of `kube-root-ca.crt`, if that has more than the CA. */
export const rootCaFile = 'root-ca.crt';

export const bundleName = ({ name }: Pick<Plane, 'name'>): string => `${name}-ca-bundle`;
/** ConfigMap with the configuration of connections of the API server into the control plane. */
export const egressName = ({ name }: Pick<Plane, 'name'>): string => `${name}-egress`;
/** ConfigMap with the kubeconfigs of kube-controller-manager, kube-scheduler and konnectivity-server. */
export const componentKubeconfigsName = ({ name }: Pick<Plane, 'name'>): string => `${name}-component-kubeconfigs`;
/** ConfigMap with the start settings of etcd members. */
export const etcdMembershipName = ({ name }: Pick<Plane, 'name'>): string => `${name}-etcd-members`;
/** Secret with the kubeconfig of the administrator, as the contract of Cluster API names it. */
export const adminKubeconfigName = ({ name }: Pick<Plane, 'name'>): string => `${name}-kubeconfig`;
/** Secret with the audit policy and the kubeconfig of its webhook. */
export const auditName = ({ name }: Pick<Plane, 'name'>): string => `${name}-audit`;
/** ConfigMap with the AuthenticationConfiguration. */
export const authenticationName = ({ name }: Pick<Plane, 'name'>): string => `${name}-authentication`;

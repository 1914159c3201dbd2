/** The certificates of the components, with the names of kubeadm. */

import { nthAddress } from '@hangar/node-objects';
import type { CertificateWish } from '../contract.ts';
import { apiServiceHost, apiServiceName, certificateNames, etcdMembers } from '../names.ts';
import type { Plane } from '../plane.ts';
import { etcdReplicas } from './etcd.ts';

export function certificates(plane: Plane): CertificateWish[] {
  const names = certificateNames(plane);
  const client = { usage: 'client' as const };
  const etcdHosts = ['localhost', '127.0.0.1', ...withDomain([...etcdMembers(plane, etcdReplicas(plane)).values()])];
  return [
    {
      secret: names.apiServer,
      authority: 'ca',
      commonName: 'kube-apiserver',
      usage: 'server',
      hosts: apiServerHosts(plane),
    },
    {
      ...client,
      secret: names.kubeletClient,
      authority: 'ca',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['kubeadm:cluster-admins', 'system:masters'],
    },
    { ...client, secret: names.proxyClient, authority: 'proxy', commonName: 'front-proxy-client' },
    { ...client, secret: names.etcdClient, authority: 'etcd', commonName: 'kube-apiserver-etcd-client' },
    {
      secret: names.etcdServer,
      authority: 'etcd',
      commonName: 'etcd-server',
      usage: 'peer',
      hosts: etcdHosts,
    },
    {
      secret: names.etcdPeer,
      authority: 'etcd',
      commonName: 'etcd-peer',
      usage: 'peer',
      hosts: etcdHosts,
    },
    { ...client, secret: names.controllerManager, authority: 'ca', commonName: 'system:kube-controller-manager' },
    { ...client, secret: names.scheduler, authority: 'ca', commonName: 'system:kube-scheduler' },
  ];
}

function apiServerHosts(plane: Plane): string[] {
  const { domain, serviceCidrs } = plane.network;
  const inside = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', `kubernetes.default.svc.${domain}`];
  const service = [
    apiServiceName(plane),
    `${apiServiceName(plane)}.${plane.namespace}`,
    ...withDomain([apiServiceHost(plane)]),
  ];
  const endpoint = plane.endpoint ? [plane.endpoint.host] : [];
  return [
    ...new Set([
      ...inside,
      ...serviceCidrs.map((cidr) => nthAddress(cidr, 1)),
      ...service,
      'localhost',
      '127.0.0.1',
      ...endpoint,
    ]),
  ];
}

/** Names of Services with and without the domain of the management cluster, whose default is the only one that is supported. */
const withDomain = (hosts: readonly string[]): string[] => hosts.flatMap((host) => [host, `${host}.cluster.local`]);

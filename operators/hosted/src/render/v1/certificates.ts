/** The certificates of the components, with the names of kubeadm. */

import { isIP } from 'node:net';
import { nthAddress } from '@hangar/node-objects';
import type { CertificateWish } from '../contract.ts';
import { apiServiceHost, apiServiceName, certificateNames, etcdMembers, etcdMembersMax } from '../names.ts';
import type { Plane } from '../plane.ts';
import { konnectivityHost, konnectivityUser } from './konnectivity.ts';

const konnectivityDays = 3650;

export function certificates(plane: Plane): CertificateWish[] {
  const names = certificateNames(plane);
  const client = { usage: 'client' as const };
  // Of all possible members, so that another number of members needs no other certificate.
  const etcdHosts = ['localhost', '127.0.0.1', ...withDomain([...etcdMembers(plane, etcdMembersMax).values()])];
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
    ...(plane.hasKonnectivity ? konnectivityCertificates(plane) : []),
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

function konnectivityCertificates(plane: Plane): CertificateWish[] {
  const names = certificateNames(plane);
  return [
    {
      secret: names.konnectivityServer,
      authority: 'ca',
      commonName: 'konnectivity-server',
      usage: 'server',
      hosts: konnectivityHosts(plane),
      // konnectivity-server reads its certificate only at its start. A new authority starts the pods again.
      days: konnectivityDays,
    },
    { usage: 'client', secret: names.konnectivityClient, authority: 'ca', commonName: konnectivityUser },
  ];
}

/** Agents use the address of the API server, or a host name of their own below it. */
const konnectivityHosts = (plane: Plane): string[] => [
  ...withDomain([apiServiceHost(plane)]),
  ...(plane.endpoint ? [plane.endpoint.host] : []),
  ...(plane.endpoint && isIP(plane.endpoint.host) === 0 ? [konnectivityHost(plane.endpoint.host)] : []),
];

/** Names of Services with and without the domain of the management cluster, whose default is the only one that is supported. */
const withDomain = (hosts: readonly string[]): string[] => hosts.flatMap((host) => [host, `${host}.cluster.local`]);

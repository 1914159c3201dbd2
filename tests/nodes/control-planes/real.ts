/**
 * The real control plane for nodes: etcd, kube-apiserver, kube-controller-manager and kube-scheduler, with the settings of kubeadm. It is
 * the reference for what nodes of this machine can do.
 */

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdArguments, etcdUrl, kubernetesArguments, careless, writeCredentials } from '@hangar/api/testing';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate, kubeconfig as kubeconfigText } from '@hangar/pki';
import type { CertificateRequest, KeyPair } from '@hangar/pki';
import { freePorts } from '../../../tools/free-ports.ts';
import { tool } from '../../../tools/tool.ts';
import { isReady } from '../../conformance/servers/control-plane.ts';
import { Processes } from '../../conformance/servers/processes.ts';
import { flags } from '../../conformance/components/cluster.ts';
import type { ComponentName } from '../../conformance/components/cluster.ts';
import { coredns } from '../testing/coredns.ts';
import { Kubectl } from '../testing/kubectl.ts';
import { shortHeartbeat } from './node-plane.ts';
import type { NodePlane, NodePlaneOptions } from './node-plane.ts';

const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const dnsAddress = '10.96.0.10';
const world = { clock: systemClock, random: systemRandom };
const serviceNames = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

export interface RealNodePlane extends NodePlane, AsyncDisposable {
  /** Process id of kube-apiserver. */
  readonly serverPid: number;
}

/** `address`: of this machine in the network of the nodes. */
export async function startRealNodePlane(address: string, options: NodePlaneOptions = {}): Promise<RealNodePlane> {
  const { heartbeat = shortHeartbeat } = options;
  for (const name of programs) await tool(name, { log: console.log });
  return Processes.start('nodes', async (processes) => {
    const { folder } = processes;
    const authority = createAuthority('kubernetes', 1, world);
    const issue = (request: Omit<CertificateRequest, 'days'>): KeyPair =>
      issueCertificate(authority, { ...request, days: 1 }, world);
    const file = async (name: string, text: string): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, text, { mode: 0o600 });
      return path;
    };
    const [clientPort, peerPort, port] = await freePorts(3);
    const server = `https://${address}:${port}`;
    const kubeconfigOf = (user: string, ...organizations: string[]): Promise<string> => {
      const credentials = issue({ commonName: user, organizations, usage: 'client' });
      const text = kubeconfigText({ name: 'real', user, server, authority: authority.certificate, credentials });
      return file(`${user.replaceAll(':', '-')}.kubeconfig`, text);
    };

    const place = { folder, clientPort: clientPort!, peerPort: peerPort! };
    processes.run(await tool('etcd'), [...etcdArguments(place), careless]);
    await writeCredentials(folder, []);
    const serving = issue({
      commonName: 'kube-apiserver',
      usage: 'server',
      hosts: [address, '10.96.0.1', '127.0.0.1', ...serviceNames],
    });
    const kubeletClient = issue({
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
      usage: 'client',
    });
    const files = {
      ca: await file('ca.crt', authority.certificate),
      caKey: await file('ca.key', authority.key),
      serving: [await file('serving.crt', serving.certificate), await file('serving.key', serving.key)],
      kubelet: [await file('kubelet.crt', kubeletClient.certificate), await file('kubelet.key', kubeletClient.key)],
      proxy: await frontProxyFiles(file),
    };
    const kubeconfig = await kubeconfigOf('admin', 'system:masters');
    const general = kubernetesArguments({ folder, etcdUrl: etcdUrl(place), port: port! }, [
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--enable-bootstrap-token-auth',
      '--allow-privileged',
      '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
      '--service-cluster-ip-range=10.96.0.0/16',
      `--advertise-address=${address}`,
      `--client-ca-file=${files.ca}`,
      `--tls-cert-file=${files.serving[0]}`,
      `--tls-private-key-file=${files.serving[1]}`,
      `--kubelet-client-certificate=${files.kubelet[0]}`,
      `--kubelet-client-key=${files.kubelet[1]}`,
      `--requestheader-client-ca-file=${files.proxy.ca}`,
      `--requestheader-allowed-names=${frontProxyName}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${files.proxy.certificate}`,
      `--proxy-client-key-file=${files.proxy.key}`,
      // No kube-proxy runs beside the API server: webhooks and aggregated APIs are reached at the addresses of their pods.
      '--enable-aggregator-routing',
    ]).filter((flag) => !flag.startsWith('--bind-address=') && !flag.startsWith('--token-auth-file='));
    const apiServer = processes.run(await tool('kube-apiserver'), [...general, `--bind-address=${address}`]);
    await processes.until(() => isReady(kubeconfig));

    const installation = {
      kubeconfig,
      serviceAccountKeyFile: join(folder, 'sa.key'),
      rootCaFile: files.ca,
      signing: { certificate: files.ca, key: files.caKey },
      kubeconfigOf: (name: ComponentName) => kubeconfigOf(`system:${name}`),
    };
    const more = { 'kube-controller-manager': heartbeat.controllerManager, 'kube-scheduler': [] };
    for (const name of ['kube-controller-manager', 'kube-scheduler'] as const) {
      const credentials = await installation.kubeconfigOf(name);
      processes.run(await tool(name), [`--kubeconfig=${credentials}`, ...flags[name](installation), ...more[name]]);
    }
    const kubectl = await Kubectl.of(kubeconfig);
    const token = await allowJoins(kubectl);
    await kubectl.apply(...coredns(dnsAddress));
    return {
      name: 'real',
      serverPid: apiServer.pid!,
      kubeconfig,
      server,
      authority,
      dnsAddress,
      join: {
        clientAuthority: authority.certificate,
        bootstrapKubeconfig: kubeconfigText({
          name: 'real',
          user: 'bootstrap',
          server,
          authority: authority.certificate,
          credentials: { token },
        }),
        // Its certificate is not verified, as in a cluster of kubeadm.
        configuration: { ...heartbeat.kubelet, serverTLSBootstrap: false, clusterDNS: [dnsAddress] },
      },
      kubeProxyKubeconfig: await kubeconfigOf('system:kube-proxy'),
      [Symbol.asyncDispose]: processes.stop,
    };
  });
}

const frontProxyName = 'front-proxy-client';

/** Writes the certificate that the API server presents to aggregated APIs, and its CA. */
async function frontProxyFiles(
  file: (name: string, text: string) => Promise<string>,
): Promise<{ ca: string; certificate: string; key: string }> {
  const authority = createAuthority('kubernetes-front-proxy', 1, world);
  const { certificate, key } = issueCertificate(
    authority,
    { commonName: frontProxyName, usage: 'client', days: 1 },
    world,
  );
  return {
    ca: await file('front-proxy-ca.crt', authority.certificate),
    certificate: await file('front-proxy-client.crt', certificate),
    key: await file('front-proxy-client.key', key),
  };
}

/** Creates a bootstrap token and the permissions that kubeadm gives to its group. Returns the token. */
async function allowJoins(kubectl: Kubectl): Promise<string> {
  const [id, secret] = [randomBytes(3).toString('hex'), randomBytes(8).toString('hex')];
  const group = 'system:bootstrappers:kubeadm:default-node-token';
  const bind = (name: string, role: string, to: string): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: to }],
  });
  const approval = 'system:certificates.k8s.io:certificatesigningrequests';
  await kubectl.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': id,
        'token-secret': secret,
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': group,
      },
    },
    bind('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', group),
    bind('kubeadm:node-autoapprove-bootstrap', `${approval}:nodeclient`, group),
    bind('kubeadm:node-autoapprove-certificate-rotation', `${approval}:selfnodeclient`, 'system:nodes'),
  );
  return `${id}.${secret}`;
}

/** The kubelet of a node: its configuration and its start. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '../../../tools/tool.ts';
import { socket } from './containerd.ts';
import type { Namespaces } from './namespaces.ts';
import { NodeProgram } from './program.ts';

export interface KubeletOptions {
  readonly nodeName: string;
  readonly address: string;
  readonly cgroup: string;
  readonly logFile: string;
  /** For configuration files. */
  readonly folder: string;
  /** Kubeconfig with a bootstrap token, for the first start. */
  readonly bootstrapKubeconfig: string;
  /** PEM: signs the certificates of clients of the kubelet. */
  readonly clientAuthority: string;
  /** Additional fields of the KubeletConfiguration. */
  readonly configuration?: object;
}

/** The kubelet writes it after its first certificate was issued. */
export const kubeconfigPath = '/var/lib/kubelet/kubeconfig';

export async function startKubelet(namespaces: Namespaces, options: KubeletOptions): Promise<NodeProgram> {
  const { folder, nodeName, address, logFile } = options;
  await mkdir(folder, { recursive: true });
  const [configuration, bootstrap] = [join(folder, 'config.json'), join(folder, 'bootstrap.kubeconfig')];
  await writeFile(join(folder, 'client-ca.crt'), options.clientAuthority);
  await writeFile(bootstrap, options.bootstrapKubeconfig, { mode: 0o600 });
  // CoreDNS forwards other names to it. No server runs there: the nodes have no access to the Internet.
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${address}\n`);
  await writeFile(configuration, JSON.stringify({ ...kubeletConfiguration(options), ...options.configuration }));
  return NodeProgram.start(namespaces, {
    path: await tool('kubelet', { log: (line) => console.log(line) }),
    args: [
      `--config=${configuration}`,
      `--kubeconfig=${kubeconfigPath}`,
      `--bootstrap-kubeconfig=${bootstrap}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${address}`,
      '--v=2',
    ],
    logFile,
  });
}

/** Settings that nodes of this machine need, for a kubelet with and without kubeadm. */
export const machineSettings = (cgroup: string): object => ({
  failCgroupV1: false,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${cgroup}`,
  failSwapOn: false,
  // The disk of this machine is shared: a node must not evict pods because others fill it.
  evictionHard: {
    'memory.available': '50Mi',
    'nodefs.available': '1%',
    'nodefs.inodesFree': '1%',
    'imagefs.available': '1%',
  },
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
});

const kubeletConfiguration = ({ folder, cgroup }: KubeletOptions): object => ({
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  ...machineSettings(cgroup),
  containerRuntimeEndpoint: `unix://${socket}`,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: join(folder, 'client-ca.crt') },
  },
  authorization: { mode: 'Webhook' },
  rotateCertificates: true,
  serverTLSBootstrap: true,
  resolvConf: join(folder, 'resolv.conf'),
  clusterDomain: 'cluster.local',
  // Several nodes of one machine must not share it.
  readOnlyPort: 0,
});

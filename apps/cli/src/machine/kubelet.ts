/** The kubelet of a node: its configuration and its start. */

import { join } from 'node:path';
import { socket } from './containerd.ts';
import { writeFiles } from './files.ts';
import type { Files } from './files.ts';
import type { Namespaces } from './namespaces.ts';
import { NodeProgram } from './program.ts';
import type { NodePrograms } from './programs.ts';

export interface KubeletSettings {
  readonly address: string;
  readonly cgroup: string;
  /** For configuration files. */
  readonly folder: string;
  /** Kubeconfig with a bootstrap token, for the first start. */
  readonly bootstrapKubeconfig: string;
  /** PEM: signs the certificates of clients of the kubelet. */
  readonly clientAuthority: string;
  /** DNS servers for names outside of the cluster. Absent: none, only the address of the node, where no server runs. */
  readonly nameservers?: readonly string[];
  /** Additional fields of the KubeletConfiguration. */
  readonly configuration?: object;
}

export interface KubeletOptions extends KubeletSettings {
  readonly programs: NodePrograms;
  readonly nodeName: string;
  readonly logFile: string;
}

/** The kubelet writes it after its first certificate was issued. */
export const kubeconfigPath = '/var/lib/kubelet/kubeconfig';

export async function startKubelet(namespaces: Namespaces, options: KubeletOptions): Promise<NodeProgram> {
  const { programs, logFile } = options;
  await writeFiles(kubeletFiles(options));
  return NodeProgram.start(namespaces, {
    path: await programs.path('kubelet'),
    args: kubeletArguments(options),
    logFile,
  });
}

export const kubeletArguments = ({
  folder,
  nodeName,
  address,
}: Pick<KubeletOptions, 'folder' | 'nodeName' | 'address'>): string[] => [
  `--config=${join(folder, 'config.json')}`,
  `--kubeconfig=${kubeconfigPath}`,
  `--bootstrap-kubeconfig=${join(folder, 'bootstrap.kubeconfig')}`,
  `--hostname-override=${nodeName}`,
  `--node-ip=${address}`,
  '--v=2',
];

/** Returns the configuration of the kubelet, its CA, its first kubeconfig and the DNS configuration of pods with dnsPolicy Default. */
export const kubeletFiles = (settings: KubeletSettings): Files => {
  const { folder, address, nameservers = [] } = settings;
  const servers = nameservers.length > 0 ? nameservers : [address];
  const configuration = { ...kubeletConfiguration(settings), ...settings.configuration };
  return {
    [join(folder, 'client-ca.crt')]: settings.clientAuthority,
    [join(folder, 'bootstrap.kubeconfig')]: settings.bootstrapKubeconfig,
    [join(folder, 'resolv.conf')]: servers.map((server) => `nameserver ${server}\n`).join(''),
    [join(folder, 'config.json')]: `${JSON.stringify(configuration, undefined, 2)}\n`,
  };
};

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

const kubeletConfiguration = ({ folder, cgroup }: KubeletSettings): object => ({
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

/** Everything that a node of this machine consists of, before any of it exists. `--dry-run` prints it. */

import { dirname, join } from 'node:path';
import { dumpYaml } from '@hangar/api/yaml';
import type { JoinMaterial } from '../control-planes/join.ts';
import { kubeconfigOf } from '../kubeconfig/access.ts';
import type { Access } from '../kubeconfig/access.ts';
import {
  containerdFiles,
  executableOf,
  kubeletArguments,
  kubeletFiles,
  kubeProxyFiles,
  pluginNames,
} from '../machine/index.ts';
import type { Files, InstalledPrograms, Join, NodeAddresses, NodeNetwork, ProgramName } from '../machine/index.ts';

export interface NodePlan {
  readonly name: string;
  /** Name of the control plane. */
  readonly controlPlane: string;
  readonly dataFolder: string;
  /** Of all files of the node. */
  readonly folder: string;
  readonly cgroup: string;
  readonly network: NodeNetwork;
  readonly addresses: NodeAddresses;
  readonly programs: InstalledPrograms;
  readonly pauseImage: string | undefined;
  /** OCI archives to import. */
  readonly images: readonly string[];
  readonly join: Join;
  readonly material: Pick<JoinMaterial, 'endpoint' | 'ca' | 'token'>;
}

export const kubeProxyKubeconfigPath = (folder: string): string => join(folder, 'kube-proxy', 'kubeconfig');

/** Returns a kubeconfig for the port of the control plane, with the credentials of `user`. */
export const kubeProxyKubeconfig = (
  { controlPlane, material }: Pick<NodePlan, 'controlPlane' | 'material'>,
  user: Access['user'],
): string => {
  const authority = Buffer.from(material.ca).toString('base64');
  const cluster = { server: material.endpoint, 'certificate-authority-data': authority };
  return dumpYaml(kubeconfigOf(controlPlane, { cluster, user }));
};

const redacted = 'REDACTED';

/** Returns all files, without credentials. */
export async function plannedFiles(plan: NodePlan): Promise<Files> {
  const { name, folder, addresses, cgroup, join: joined, pauseImage } = plan;
  const { podNetwork, address } = addresses;
  const found = async (program: ProgramName): Promise<string> =>
    (await plan.programs.find(program)) ?? executableOf(program);
  const plugins = await Promise.all(pluginNames.map(found));
  const kubeconfig = kubeProxyKubeconfigPath(folder);
  const user = { 'client-certificate-data': redacted, 'client-key-data': redacted };
  const bootstrapKubeconfig = joined.bootstrapKubeconfig.replaceAll(plan.material.token, redacted);
  return {
    ...containerdFiles(
      { folder: join(folder, 'containerd'), podNetwork, pauseImage },
      { runc: await found('runc'), pluginFolders: plugins.map(dirname) },
    ),
    ...kubeletFiles({ ...joined, bootstrapKubeconfig, folder: join(folder, 'kubelet-config'), address, cgroup }),
    ...kubeProxyFiles({ nodeName: name, folder: join(folder, 'kube-proxy'), podNetwork, kubeconfig }),
    [kubeconfig]: kubeProxyKubeconfig(plan, user),
  };
}

/** Returns the text of `--dry-run`: the parts outside of the namespaces, the programs and the files. */
export async function describePlan(plan: NodePlan): Promise<string> {
  const { name, folder, cgroup, network, addresses } = plan;
  const { address, podNetwork, index } = addresses;
  const line = (label: string, text: string): string => `# ${label.padEnd(12)} ${text}\n`;
  const names = ['containerd', 'kubelet', 'kube-proxy', 'runc', 'cni-bridge'] as const;
  const programs = await Promise.all(
    names.map(async (program) => line(program, (await plan.programs.find(program)) ?? 'not installed')),
  );
  const settings = { folder: join(folder, 'kubelet-config'), nodeName: name, address };
  const files = Object.entries(await plannedFiles(plan)).map(([path, text]) => `\n# ${path}\n${text.trimEnd()}\n`);
  return [
    line('node', `${name} of control plane ${plan.controlPlane}`),
    line('folder', folder),
    line('cgroup', cgroup),
    line('bridge', `${network.bridge}, address ${network.hostAddress}`),
    line('cable', `${network.bridge}-${index} to eth0 of the node, address ${address}`),
    line('route', `${podNetwork} via ${address}`),
    '\n',
    ...programs,
    line('kubelet args', kubeletArguments(settings).join(' ')),
    ...files,
  ].join('');
}

/** kube-proxy of a node, with nftables. */

import { delimiter, dirname, join } from 'node:path';
import { writeFiles } from './files.ts';
import type { Files } from './files.ts';
import type { Namespaces } from './namespaces.ts';
import { NodeProgram } from './program.ts';
import type { NodePrograms } from './programs.ts';

export interface KubeProxySettings {
  readonly nodeName: string;
  readonly folder: string;
  readonly podNetwork: string;
  /** Path of the kubeconfig of `system:kube-proxy`. */
  readonly kubeconfig: string;
}

export interface KubeProxyOptions extends KubeProxySettings {
  readonly programs: NodePrograms;
  readonly logFile: string;
}

export async function startKubeProxy(namespaces: Namespaces, options: KubeProxyOptions): Promise<NodeProgram> {
  const { programs, logFile } = options;
  await writeFiles(kubeProxyFiles(options));
  return NodeProgram.start(namespaces, {
    path: await programs.path('kube-proxy'),
    args: [`--config=${configurationPath(options.folder)}`],
    env: { PATH: [dirname(await programs.path('nft')), process.env['PATH']].join(delimiter) },
    logFile,
  });
}

const configurationPath = (folder: string): string => join(folder, 'config.json');

export const kubeProxyFiles = ({ folder, nodeName, podNetwork, kubeconfig }: KubeProxySettings): Files => {
  const configuration = {
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    mode: 'nftables',
    hostnameOverride: nodeName,
    clientConnection: { kubeconfig },
    clusterCIDR: podNetwork,
    // These are settings of the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  return { [configurationPath(folder)]: `${JSON.stringify(configuration, undefined, 2)}\n` };
};

/** kube-proxy of a node, with nftables. */

import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { tool } from '../../../tools/tool.ts';
import type { Namespaces } from './namespaces.ts';
import { NodeProgram } from './program.ts';

export interface KubeProxyOptions {
  readonly nodeName: string;
  readonly folder: string;
  readonly logFile: string;
  readonly podNetwork: string;
  /** Path of the kubeconfig of `system:kube-proxy`. */
  readonly kubeconfig: string;
}

export async function startKubeProxy(namespaces: Namespaces, options: KubeProxyOptions): Promise<NodeProgram> {
  const { folder, nodeName, podNetwork, kubeconfig, logFile } = options;
  const log = (line: string): void => console.log(line);
  await mkdir(folder, { recursive: true });
  const configuration = join(folder, 'config.json');
  const content = {
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    mode: 'nftables',
    hostnameOverride: nodeName,
    clientConnection: { kubeconfig },
    clusterCIDR: podNetwork,
    // These are settings of the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  await writeFile(configuration, JSON.stringify(content));
  return NodeProgram.start(namespaces, {
    path: await tool('kube-proxy', { log }),
    args: [`--config=${configuration}`],
    env: { PATH: [dirname(await tool('nft', { log })), process.env['PATH']].join(delimiter) },
    logFile,
  });
}

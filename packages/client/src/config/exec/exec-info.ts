/** Builds the content of KUBERNETES_EXEC_INFO for the plugin. */

import type { ExecConfig } from './exec-config.ts';

/** The cluster that credentials are for; `config` is the extension `client.authentication.k8s.io/exec` of the cluster in the kubeconfig. */
export interface ExecCluster {
  readonly server: string;
  readonly serverName?: string | undefined;
  readonly isInsecure?: boolean | undefined;
  readonly ca?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly disableCompression?: boolean | undefined;
  readonly config?: unknown;
}

export function execInfo(
  { apiVersion, provideClusterInfo }: Pick<ExecConfig, 'apiVersion' | 'provideClusterInfo'>,
  cluster: ExecCluster,
  interactive: boolean,
): string {
  const spec = provideClusterInfo ? { cluster: clusterOf(cluster), interactive } : { interactive };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
}

/** JSON omits undefined fields. */
const clusterOf = (cluster: ExecCluster): object => ({
  server: cluster.server,
  'tls-server-name': cluster.serverName,
  'insecure-skip-tls-verify': cluster.isInsecure || undefined,
  'certificate-authority-data': cluster.ca === undefined ? undefined : Buffer.from(cluster.ca).toString('base64'),
  'proxy-url': cluster.proxyUrl,
  'disable-compression': cluster.disableCompression || undefined,
  config: cluster.config ?? null,
});

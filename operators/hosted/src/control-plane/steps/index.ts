/** The phases in their order. README.md describes each of them. */

import { heldByReplica } from '../../replica/hold.ts';
import { heldBy } from '../../restore/hold.ts';
import type { Phase } from '../conditions.ts';
import type { Step } from '../pass.ts';
import { adminKubeconfigSecret } from './admin-kubeconfig.ts';
import { caBundle } from './ca-bundle.ts';
import { caCertificates } from './ca-certificates.ts';
import { certificates } from './certificates.ts';
import { apiServerDeployments, internalKubeconfig } from './deployments.ts';
import { apiServerService, apiServerTlsRoutes, syncControlPlaneEndpoint } from './endpoint.ts';
import { etcdCluster } from './etcd-cluster.ts';
import { workloadSetup } from './workload-setup.ts';

export const steps: readonly (readonly [Phase, Step])[] = [
  ['CACertificatesReady', heldByReplica(['everything'], caCertificates)],
  ['CABundleReady', caBundle],
  ['APIServerServiceReady', apiServerService],
  ['SyncControlPlaneEndpointReady', syncControlPlaneEndpoint],
  ['APIServerTLSRoutesReady', apiServerTlsRoutes],
  ['CertificatesReady', certificates],
  ['EtcdClusterReady', heldBy(['etcd'], etcdCluster)],
  ['InternalKubeconfigReady', heldByReplica(['api-servers'], heldBy(['etcd', 'api-servers'], internalKubeconfig))],
  ['APIServerDeploymentsReady', apiServerDeployments],
  ['AdminKubeconfigReady', adminKubeconfigSecret],
  ['WorkloadSetupReady', heldByReplica(['controllers'], workloadSetup)],
];

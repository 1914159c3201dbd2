/**
 * @hangar/client is a typed client for any Kubernetes API. Start with `connect`, then read `client.ts` for the verbs and `kind.ts` for
 * kinds.
 *
 *     import { connect, defaultConfig } from '@hangar/client';
 *     import { Pod } from '@hangar/client/kinds/core-v1';
 *
 *     const client = connect(await defaultConfig());
 *     const { items } = await client.list(Pod, { namespace: 'default', labelSelector: { app: 'web' } });
 *     await client.close();
 *
 * The folders:
 *
 *   config/      server address and credentials: kubeconfigs, pods, credential plugins
 *   transport/   HTTP/1.1, HTTP/2, or a call in the same process
 *   rest/        verbs to requests, responses to objects, error responses to errors
 *   watch/       streams of events
 *   discovery/   kinds that are known only at run time
 *   kinds/       generated types of the built-in kinds
 *   generate/    types from CustomResourceDefinitions: `hangar-types`
 */

export type * from './client.ts';
export { asMetadata, defineKind, groupOf, keyOf, kindKey } from './kind.ts';
export type { ApiObject, Kind, KindNames, ObjectKey, ObjectOf, UnknownObject } from './kind.ts';
export { ClientError, ReceivedStatusError } from './errors.ts';
export type { ClientErrorCode } from './errors.ts';
export { connect } from './connect.ts';
export type { ConnectOptions } from './connect.ts';
export { RestClient } from './rest/rest-client.ts';
export { refusalOf } from './rest/refusal.ts';
export { RestMetrics } from './rest/metrics.ts';
export type { RequestObserver, RestOptions, RetryOptions } from './rest/options.ts';
export { httpTransport } from './transport/http-transport.ts';
export type { HttpTransportOptions } from './transport/http-transport.ts';
export { InProcessTransport } from './transport/in-process.ts';
export type { InProcessHandler, InProcessOptions, InProcessPeer } from './transport/in-process.ts';
export type { HttpAnswer, HttpRequest, HttpTransport } from './transport/contract.ts';
export type { ClientCertificate, ClusterConfig, Credentials, Impersonation } from './config/cluster-config.ts';
export { loadKubeconfig, configOfKubeconfig } from './config/kubeconfig.ts';
export type { ForeignKubeconfigOptions, KubeconfigOptions } from './config/kubeconfig.ts';
export { inClusterConfig } from './config/in-cluster.ts';
export type { InClusterOptions } from './config/in-cluster.ts';
export { defaultConfig } from './config/default-config.ts';
export type { DefaultConfigOptions } from './config/default-config.ts';
export { fingerprintOf } from './config/fingerprint.ts';
export { KindMapper } from './discovery/kind-mapper.ts';
export type { KindMapperOptions } from './discovery/kind-mapper.ts';
export type { DiscoveredKind } from './discovery/discovered-kind.ts';
export { find } from './find.ts';
export { isPlainPath, isPlainTarget } from './plain-path.ts';
export { hasCode } from '@hangar/core';

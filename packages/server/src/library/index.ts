/**
 * A library for aggregated API servers.
 *
 *   declareKind       declares a kind: names, schema, storage
 *   KindStorage       objects in a custom storage: get, list, create, update, delete, watch, as far as supported
 *   Feed              watches for a storage that only one process writes
 *   clusterAccess     the cluster that authenticates and authorizes the requests
 *   serveAggregated   runs the server
 *   registration      the APIServices to create in the cluster
 *
 *     const note = declareKind({
 *       group: 'example.com', version: 'v1', kind: 'Note', plural: 'notes',
 *       schema: schema.object({ spec: schema.object({ text: schema.string() }) }),
 *     });
 *     const server = await serveAggregated({ kinds: [note], access: await clusterAccess(undefined), host: '::', port: 8443 });
 */

export { StatusError, alreadyExists, badRequest, conflict, notFound } from '@hangar/api';
export type { KubeObject, ObjectMeta } from '@hangar/api';
export type { AdmissionPlugin, AdmissionRequest } from '../admission/admission.ts';
export type { User } from '../auth/user.ts';
export { clusterAccess, inClusterAccess, kubeconfigAccess } from '../outbound/cluster-access.ts';
export type { ClusterAccess } from '../outbound/cluster-access.ts';
export { AccessReviews } from './delegated-authorization.ts';
export type { ReviewClient } from './delegated-authorization.ts';
export { ClusterClient, ClusterError } from './cluster-client.ts';
export { Feed } from './feed.ts';
export { frontProxyCaOf } from './front-proxy-authorities.ts';
export type { FrontProxyAuthority, ProxiedPlane } from './front-proxy-authorities.ts';
export { declareKind } from './kind.ts';
export type { CreateContext, CreateOnly, Kind, KindDeclaration, ObjectOf } from './kind.ts';
export { frontProxyHeaders, frontProxyName, PlaneProofs } from './plane-proof.ts';
export type { ProvenPlane, ProxiedPlanes } from './plane-proof.ts';
export { registration } from './registration.ts';
export type { RegistrationOptions } from './registration.ts';
export * as schema from './schema.ts';
export type { Schema, TypeOf } from './schema.ts';
export { serveAggregated } from './server.ts';
export type { AggregatedServer, AggregatedServerOptions, AggregatedView, ViewOptions } from './server.ts';
export type { Awaitable, Change, KindStorage, Listed, PageOptions, StoragePage } from './storage.ts';
export { CompactedError } from '@hangar/store';
export type { Revision } from '@hangar/store';
export type { Authenticator } from '../auth/authenticate.ts';
export type { Authorizer } from '../auth/authorize.ts';
export { FrontProxyAuthenticator } from '../auth/front-proxy/front-proxy.ts';
export type { Answer, Peer, ServerRequest } from '../http/message.ts';
export { errorAnswer } from '../objects/answers.ts';
export { isPublicPath } from '../request/public-paths.ts';
export { splitTarget } from '../request/query.ts';

/**
 * library: everything for an aggregated API server of one's own.
 *
 *   declareKind       what it serves: names, a schema, where the objects are
 *   KindStorage       objects that are somewhere else: get, list, create, update, delete, watch, as far as they can be done
 *   Feed              watches for a storage that one process writes
 *   clusterAccess     the cluster that says who asks and what they may do
 *   serveAggregated   the server
 *   registration      what to create in the cluster so that it is found
 */

export { StatusError, alreadyExists, badRequest, conflict, notFound } from '@hangar/api';
export type { KubeObject, ObjectMeta } from '@hangar/api';
export type { AdmissionPlugin, AdmissionRequest } from '../admission/admission.ts';
export type { User } from '../auth/user.ts';
export { clusterAccess, inClusterAccess, kubeconfigAccess } from '../outbound/cluster-access.ts';
export type { ClusterAccess } from '../outbound/cluster-access.ts';
export { Feed } from './feed.ts';
export { declareKind } from './kind.ts';
export type { CreateContext, CreateOnly, Kind, KindDeclaration, ObjectOf } from './kind.ts';
export { registration } from './registration.ts';
export type { RegistrationOptions } from './registration.ts';
export * as schema from './schema.ts';
export type { Schema, TypeOf } from './schema.ts';
export { serveAggregated } from './server.ts';
export type { AggregatedServer, AggregatedServerOptions } from './server.ts';
export type { Awaitable, Change, KindStorage, Listed } from './storage.ts';

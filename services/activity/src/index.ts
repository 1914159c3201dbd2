/**
 * activity: an aggregated API server for the audit events and activities of all control planes.
 *
 *   startActivityService   runs the service
 *   ManagementDirectory    control planes and organizations, read from the management plane
 *   policyOf               reads an ActivityPolicy
 *   openDatabase           a database by its address, for tools and benchmarks
 */

export { openDatabase } from './backend/open-database.ts';
export type { Backend } from './backend/backend.ts';
export { ThreadedBackend } from './backend/threads.ts';
export { ingestPath } from './ingest/endpoint.ts';
export type { IngestCredential } from './ingest/endpoint.ts';
export { policyOf } from './policy/policy.ts';
export type { ActivityPolicy } from './policy/policy.ts';
export { defaultPolicies } from './policy/defaults.ts';
export { ManagementDirectory, readerOf } from './scope/directory.ts';
export type { KnownPlane, PlaneDirectory, ReadObject } from './scope/directory.ts';
export { defaultRetentionMs, startActivityService } from './service.ts';
export type { ActivityService, ActivityServiceOptions } from './service.ts';

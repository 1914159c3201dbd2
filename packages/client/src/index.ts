/**
 * client: one cluster, asked. Read `kind.ts` and `client.ts` for what can be said.
 *
 *   config/      who and where: kubeconfigs, credentials of pods, plugins
 *   transport/   HTTP/1.1, HTTP/2, or a call in the same process
 *   rest/        verbs to requests, answers to objects, refusals to errors
 *   watch/       streams of events
 *   discovery/   kinds that only the server knows
 *   kinds/       Kubernetes' own kinds, typed; generated
 */

export type * from './client.ts';
export { defineKind, groupOf, keyOf, kindKey } from './kind.ts';
export type { ApiObject, Kind, KindNames, ObjectKey, ObjectOf, UnknownObject } from './kind.ts';
export { ClientError, ReceivedStatusError } from './errors.ts';
export type { ClientErrorCode } from './errors.ts';
export { RestClient } from './rest/rest-client.ts';
export { InProcessTransport } from './transport/in-process.ts';
export type { InProcessHandler, InProcessOptions, InProcessPeer } from './transport/in-process.ts';
export type { HttpAnswer, HttpRequest, HttpTransport } from './transport/contract.ts';

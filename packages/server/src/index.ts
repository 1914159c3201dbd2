/**
 * server: the Kubernetes API server, and the library for writing one.
 *
 *   http/         sockets to requests, answers to bytes
 *   request/      what a request is about: path, query, media types
 *   auth/         who asks, and may they
 *   admission/    the gate before the store
 *   resources/    what is served: built-in kinds, custom resources
 *   objects/      from bodies to objects, from stored bytes to answers
 *   verbs/        create, get, list, watch, update, patch, delete
 *   subresources/ scale, and those that are operations of their own: bindings, evictions
 *   allocation/   what objects have besides themselves: a service's addresses and ports
 *   reviews/      questions about users and what they may do
 *   documents/    discovery, OpenAPI, version, health
 */

export { Admission } from './admission/admission.ts';
export type { AdmissionPlugin, AdmissionRequest } from './admission/admission.ts';
export { namespaceLifecycle } from './admission/namespace-lifecycle.ts';
export { CertificateAuthenticator, StaticTokenAuthenticator } from './auth/authenticate.ts';
export type { Authenticator, StaticToken } from './auth/authenticate.ts';
export { privilegedGroup } from './auth/authorize.ts';
export type { Authorizer, Decision } from './auth/authorize.ts';
export type { User } from './auth/user.ts';
export { bootstrap } from './bootstrap/bootstrap.ts';
export type { BootstrapOptions } from './bootstrap/objects.ts';
export { openControlPlane } from './open-control-plane.ts';
export type { ControlPlaneOptions, OpenControlPlane } from './open-control-plane.ts';
export type { ControlPlane } from './control-plane.ts';
export { listen } from './http/listener.ts';
export type { Listener, ListenOptions } from './http/listener.ts';
export type { Answer, Handler, Headers, Peer, ServerRequest, Sink, Streaming } from './http/message.ts';
export { Expiry } from './objects/expiry.ts';
export { Catalogue } from './resources/catalogue.ts';
export { DefinitionFollower } from './definitions/follower.ts';
export { ApiServer } from './server.ts';
export type { ApiServerOptions } from './server.ts';

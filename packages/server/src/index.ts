/**
 * server: the Kubernetes API server, and the library for writing one.
 *
 *   http/         sockets to requests, responses to bytes
 *   request/      parsing of requests: path, query, media types
 *   auth/         authentication and authorization
 *   admission/    admission before the store
 *   resources/    served resources: built-in kinds, custom resources
 *   objects/      from bodies to objects, from stored bytes to responses
 *   verbs/        create, get, list, watch, update, patch, delete
 *   subresources/ scale, and separate operations: bindings, evictions
 *   allocation/   addresses and ports of services
 *   fairness/     queueing of requests, by control plane and flow
 *   aggregation/  group-versions that other servers serve behind this one
 *   library/      for writing such a server: `@hangar/server/library`
 *   outbound/     outgoing calls of the server, and the policy for them
 *   reviews/      reviews of users and their permissions
 *   documents/    discovery, OpenAPI, version, health
 *   tenancy/      virtual control planes: many of them behind one port
 */

export { Aggregator } from './aggregation/aggregator.ts';
export { AuthenticationPublisher } from './aggregation/authentication-config.ts';
export type { PublishedAuthentication } from './aggregation/authentication-config.ts';
export { Admission } from './admission/admission.ts';
export { checkPluginChoice, pluginNames } from './admission/plugin-choice.ts';
export type { PluginChoice } from './admission/plugin-choice.ts';
export type { AdmissionPlugin, AdmissionRequest } from './admission/admission.ts';
export { namespaceLifecycle } from './admission/builtin/namespace-lifecycle.ts';
export { CertificateAuthorities } from './auth/authorities.ts';
export { CertificateAuthenticator, StaticTokenAuthenticator } from './auth/authenticate.ts';
export type { Authenticator, StaticToken } from './auth/authenticate.ts';
export { privilegedGroup } from './auth/authorize.ts';
export { Authorization } from './auth/authorization/configuration/authorization.ts';
export type { AuthorizationOptions } from './auth/authorization/configuration/authorization.ts';
export { ConfigurationError } from './auth/authorization/configuration/configuration.ts';
export type { AuthorizerConfiguration } from './auth/authorization/configuration/configuration.ts';
export type { Authorizer, Decision } from './auth/authorize.ts';
export type { User } from './auth/user.ts';
export type { TokenAuthenticator, TokenIdentity } from './auth/tokens.ts';
export { withoutParent } from './auth/parent-extras.ts';
export { anonymousAccess } from './auth/anonymous.ts';
export type { AnonymousOptions } from './auth/anonymous.ts';
export { BootstrapTokenAuthenticator } from './auth/bootstrap-tokens/bootstrap-tokens.ts';
export { FrontProxyAuthenticator } from './auth/front-proxy/front-proxy.ts';
export type { FrontProxyOptions } from './auth/front-proxy/front-proxy.ts';
export { ServiceAccountAuthenticator } from './auth/service-accounts/authenticate.ts';
export { signingKeyOf, verificationKeysOf } from './auth/service-accounts/keys.ts';
export { LegacyTokenAuthenticator } from './auth/service-accounts/legacy.ts';
export { ServiceAccounts } from './auth/service-accounts/service-accounts.ts';
export { bootstrap } from './bootstrap/bootstrap.ts';
export type { BootstrapOptions } from './bootstrap/objects.ts';
export { openControlPlane } from './open-control-plane.ts';
export type { ControlPlaneOptions, OpenControlPlane } from './open-control-plane.ts';
export type { ControlPlane } from './control-plane.ts';
export type { HealthCheck } from './documents/health.ts';
export { FairQueue, TenantFairness } from './fairness/index.ts';
export type { FairQueueOptions, Fairness, TenantFairnessOptions } from './fairness/index.ts';
export { listen } from './http/listener.ts';
export type { Listener, ListenOptions } from './http/listener.ts';
export type { Answer, Handler, Headers, Peer, ServerRequest, Sink, Streaming } from './http/message.ts';
export { CacheBudget, defaultCacheBytesMax } from './objects/cache-budget.ts';
export { Expiry } from './objects/expiry.ts';
export { kubeconfigAccess } from './outbound/cluster-access.ts';
export { postToCluster } from './outbound/cluster-post.ts';
export { outboundError, OutboundError } from './outbound/errors.ts';
export { Outbound, parseCidr } from './outbound/index.ts';
export type { ClusterDialer, OutboundAnswer, OutboundOptions, OutboundRequest } from './outbound/index.ts';
export { Catalogue } from './resources/catalogue.ts';
export { DefinitionFollower } from './definitions/follower.ts';
export { ApiServer } from './server.ts';
export type { ApiServerOptions } from './server.ts';
export * from './encryption/index.ts';
export { ObservedStore } from './metrics/observed-store.ts';
export { isPublicPath } from './request/public-paths.ts';
export { memberAuthorizer } from './tenancy/projects/member-authorizer.ts';
export { insistOnRoot, Tenancy } from './tenancy/tenancy.ts';
export type { TenancyOptions } from './tenancy/tenancy.ts';
export type { FedChange, FedResource, FeedListener, TenantFeed } from './tenancy/feed/index.ts';
export type {
  ClusterBatch,
  ClusterEvent,
  ClusterList,
  ClusterObject,
  ClusterWatch,
  Wildcard,
} from './tenancy/wildcard/index.ts';
export { usageStatus } from './tenancy/usage/usage-status.ts';
export { advertisedTenantAuthority } from './tenancy/keys/advertised-authority.ts';
export { ServerAddresses, soleAddress } from './tenancy/ports/server-addresses.ts';
export type { AdvertisedAddresses } from './tenancy/ports/kept-endpoints.ts';
export { kubeletCredentials } from './tenancy/keys/kubelet-credentials.ts';
export { withOwnAuthority } from './tenancy/base/of-tenant.ts';
export { PlanePorts } from './tenancy/ports/plane-ports.ts';
export type { PortRange } from './tenancy/ports/port-allocator.ts';
export { servingCertificates } from './tenancy/keys/serving-certificates.ts';
export { clustersPrefix, keysKey, tenantPrefix } from './tenancy/layout.ts';

/**
 * One open tenant: its control plane on a view of the store, and its API server. `close` releases all resources; the tenant can be opened
 * again.
 */

import { CleanupStack, CodedError, currentActivity } from '@hangar/core';
import type { Failpoints } from '@hangar/core';
import { layeredStore } from '@hangar/store';
import type { Entry, Store } from '@hangar/store';
import { FencedStore } from './fenced-store.ts';
import { Aggregator } from '../aggregation/aggregator.ts';
import type { PluginChoice } from '../admission/plugin-choice.ts';
import { Authorization } from '../auth/authorization/configuration/authorization.ts';
import type { Guard } from '../auth/guard.ts';
import { anonymous } from '../auth/user.ts';
import type { User } from '../auth/user.ts';
import { TenantFairness } from '../fairness/index.ts';
import type { FairQueue } from '../fairness/index.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { CacheBudget } from '../objects/cache-budget.ts';
import type { Outbound } from '../outbound/index.ts';
import { isAgentRequest, Tunnel } from '../nodes/tunnel/index.ts';
import type { NodeTotals } from '../nodes/totals.ts';
import { openControlPlane } from '../open-control-plane.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import { ApiServer } from '../server.ts';
import type { ApiServerOptions } from '../server.ts';
import { restoring } from './backup/replacement.ts';
import type { Replacements } from './backup/replacements.ts';
import type { TenantBase } from './base/base.ts';
import { baseOfTenant } from './base/of-tenant.ts';
import { noBase } from './base/with-entries.ts';
import type { TenantExternalUsers } from './external-users/external-users.ts';
import { TenantHeld } from './hold/tenant-held.ts';
import { baseRevisionOf, continuesView, decodeIdentity, fenceOf } from './identity.ts';
import { tenantAuthentication } from './keys/authentication.ts';
import { frontProxyCertificate } from './keys/front-proxy.ts';
import { isIssuerOf } from './keys/issuers.ts';
import { kubeletCredentials } from './keys/kubelet-credentials.ts';
import { tenantKeys } from './keys/keys.ts';
import type { KeyWorld, TenantKeys } from './keys/keys.ts';
import { verifiersOf } from './keys/verifiers.ts';
import { identityKey, tenantPrefix } from './layout.ts';
import { followMember, isPlatformUser, platformCertificates, platformTokens } from './platform-users.ts';
import type { PlatformUsers } from './platform-users.ts';
import { insistOnActive } from './suspension.ts';
import type { KeptRequestMetrics } from './metrics/kept-request-metrics.ts';
import type { TenantMetrics } from './metrics/tenant-metrics.ts';
import { anonymousAtTenant } from './ports/anonymous.ts';
import { keepEndpoints } from './ports/kept-endpoints.ts';
import type { AdvertisedAddresses } from './ports/kept-endpoints.ts';
import { openRemoteTenant } from './remote/remote-tenant.ts';
import { QuotaStore } from './quota/quota-store.ts';
import type { Tenant } from './tenant.ts';
import { TenantAccount } from './usage/account.ts';
import { bornWith } from './usage/tenant-usage.ts';
import type { UsageBook } from './usage/usage-book.ts';

/** Dependencies that all tenants share. */
export interface TenantWorld
  extends Partial<Pick<ApiServerOptions, 'auditor'>>, Pick<ApiServerOptions, 'onError'>, KeyWorld {
  readonly store: Store;
  readonly storePrefix: string;
  readonly outbound: Outbound;
  readonly admission?: PluginChoice;
  /** Memory budget of the list caches, shared by all tenants. */
  readonly cacheBudget?: CacheBudget;
  readonly base: () => Promise<TenantBase>;
  /** Records the resource usage of tenants. */
  readonly usage: UsageBook;
  readonly tenantMetrics: TenantMetrics;
  readonly requestMetrics: KeptRequestMetrics;
  /** Shared by all control planes of the process. Absent: requests are not queued. */
  readonly fairQueue?: FairQueue;
  /** For tests: `request PATH USER` is hit with each authenticated request to a tenant. */
  readonly failpoints?: Failpoints;
  /** Address types of Nodes for connections to kubelets, in order of preference. Absent: the default. */
  readonly kubeletAddressTypes?: readonly string[];
  /** Limits of the connections to nodes of all tenants. */
  readonly nodeTotals: NodeTotals;
  /** Authenticates tokens of the issuers that tenants name. */
  readonly externalUsers: TenantExternalUsers;
  /** Guard of the management plane; it authenticates platform administrators. */
  readonly rootGuard: () => Guard;
  /** Returns the URL of the control plane with this path. */
  readonly url: (path: string) => string;
  /** CA of the certificates that the port serves; PEM. */
  readonly servingCa: () => string;
  /** Returns the users of the management plane that the control plane with this path accepts. */
  readonly platformUsers: (path: string) => PlatformUsers;
  /** Sets the extras of users that name the project of the control plane with this path, instead of those that the client brought. */
  readonly scope: (path: string, user: User) => User;
  /** Identifies this process among its replicas. */
  readonly serverId: string;
  /** Reports whether nodes can join the control plane with this path. */
  readonly hasNodes: (path: string) => boolean;
  /** Completes restores in place. */
  readonly replacements: () => Replacements;
  /** Addresses in the service `kubernetes` of tenants with nodes. Absent: the service is as in other tenants. */
  readonly advertised?: AdvertisedAddresses | undefined;
}

/** A tenant that answers requests, itself or through another API server. */
export interface ServedTenant {
  readonly keys: TenantKeys;
  /** Handles a request and records its usage. Never rejects. */
  handle(request: ServerRequest): Promise<Answer>;
  /** Stops all watches. The tenant must not be used afterwards. Resolves when requests that are passed on have ended. */
  close(): void | Promise<void>;
}

export interface OpenTenant extends ServedTenant {
  readonly plane: ControlPlane;
  readonly server: ApiServer;
  /** Connections through agents in the network of the nodes. */
  readonly tunnel: Tunnel;
}

/** Connects an open tenant to the current state of its Tenant object. */
export interface TenantLink {
  /** Returns the current state. */
  tenant(): Tenant;
  /** Called when the tenant was replaced since it was opened. The caller must reopen it. */
  onFenced(): void;
}

/**
 * `known`: the entry of the tenant's identity, if it was just read. Returns undefined if the tenant was deleted meanwhile. Throws 503 while a
 * restore replaces its data, and `TenantHeld` while a migration holds it.
 */
export async function openTenant(
  world: TenantWorld,
  link: TenantLink,
  known?: Entry,
): Promise<OpenTenant | ServedTenant | undefined> {
  const { store, storePrefix, clock, random } = world;
  const { path } = link.tenant();
  const prefix = tenantPrefix(storePrefix, path);
  const entry = known ?? (await store.get(identityKey(prefix))).entry;
  if (!entry) return undefined;
  const identity = decodeIdentity(entry.value);
  if (identity.next) {
    world.replacements().noticed(path);
    throw restoring(path);
  }
  if (identity.heldBy !== undefined) throw new TenantHeld(path, entry.modRevision);
  const keys = await tenantKeys({ store, prefix, path, identityRevision: entry.modRevision, clock, random });
  const { remote } = identity;
  const auditor = world.auditor?.annotated(tenantAnnotation, path);
  if (remote) return openRemoteTenant({ world, link, entry, identity: { ...identity, remote }, keys, auditor });
  await using opened = new CleanupStack();
  const view = await viewOf(world, { path, prefix, entry, keys, link });
  opened.defer(() => view.close());
  /** Set below; connections may be opened before. */
  let agents: Tunnel | undefined;
  const connectedTunnel = (): Tunnel | undefined =>
    agents?.isConnected && link.tenant().spec.nodes?.enabled ? agents : undefined;
  const { seed } = identity;
  const counted = world.requestMetrics.open(path, seed);
  opened.defer(() => counted.close());
  const outbound = world.outbound.forTenant(connectedTunnel);
  opened.defer(() => outbound.close());
  const { plane, close } = await openControlPlane({
    name: path,
    prefix: storePrefix,
    store: view,
    clock,
    random,
    outbound,
    metrics: counted.metrics,
    nodes: {
      networks: () => link.tenant().spec.nodes?.networks,
      totals: world.nodeTotals,
      ...(world.kubeletAddressTypes && { preferredAddressTypes: world.kubeletAddressTypes }),
      credentials: kubeletCredentials({ keys, clock, random }),
      tunnel: connectedTunnel,
    },
    ...(world.admission ? { admission: world.admission } : {}),
    ...(world.cacheBudget ? { cacheBudget: world.cacheBudget } : {}),
  });
  opened.defer(close);
  if (world.advertised && link.tenant().port !== undefined) {
    const { advertised, onError } = world;
    opened.defer(await keepEndpoints({ plane, clock, tenant: () => link.tenant(), advertised, onError }));
  }
  const authorization = await Authorization.open(plane, { source: defaultModes, onError: world.onError });
  opened.defer(() => authorization.close());
  const frontProxy = frontProxyCertificate({ keys, clock, random });
  const aggregator = new Aggregator({ plane, clientCertificate: frontProxy, onError: world.onError });
  opened.defer(() => aggregator.close());
  await aggregator.start();
  const fairness =
    world.fairQueue &&
    new TenantFairness({
      queue: world.fairQueue,
      plane,
      requestsPerSecond: () => link.tenant().spec.quota?.requestsPerSecond,
    });
  opened.defer(() => fairness?.close());
  const used = world.usage.open({
    path,
    seed,
    revision: entry.modRevision,
    memoryBytes: () => plane.collections.bytes,
  });
  opened.defer(() => used.close());
  const account = new TenantAccount({
    clock,
    tenant: () => link.tenant(),
    meter: used.meter,
    metrics: world.tenantMetrics,
  });
  const server = new ApiServer({
    plane,
    ...withPlatform(
      tenantAuthentication({
        plane,
        keys,
        issuer: world.url(path),
        // The platform may have had another address when it issued the tokens.
        isFormerIssuer: (issuer) => isIssuerOf(path, issuer),
        certificates: verifiersOf(keys, clock).certificates,
        anonymous: anonymousAtTenant,
        external: world.externalUsers.authenticator(path),
        clock,
      }),
      world.platformUsers(path),
    ),
    authorizers: [authorization],
    scope: (user) => world.scope(path, user),
    follow: (user, end) => followMember(world.platformUsers(path), user, end),
    aggregator,
    health: { livez: [ping], readyz: [ping, { name: 'store', check: () => storeProblem(store) }] },
    isProcessShared: true,
    ...(fairness ? { fairness } : {}),
    admits: (info: RequestInfo, request: ServerRequest, user: User) => {
      const activity = currentActivity();
      if (activity?.tenant === path) {
        if (!activity.isPlatformWork) activity.verb = info.verb;
        activity.meter = fairness;
        activity.authenticated(user.name, isOfTenant(user));
      }
      insistOnActive(link.tenant(), info, user !== anonymous);
      world.failpoints?.hit(`request ${path} ${user.name}`);
      account.admit(info, request);
    },
    address: () => new URL(world.url(path)).host,
    ...(auditor ? { auditor } : {}),
    onError: world.onError,
  });
  const tunnel = new Tunnel({
    plane: path,
    serverId: world.serverId,
    guard: () => server.guard,
    clock,
    totals: world.nodeTotals,
    fairness,
    auditor,
    onViolation: (message) => world.onError(new CodedError('AgentDisconnected', message)),
  });
  agents = tunnel;
  opened.defer(() => tunnel.close());
  const running = opened.move();
  const answer = (request: ServerRequest): Promise<Answer> =>
    isAgentRequest(request) && link.tenant().spec.nodes?.enabled ? tunnel.connect(request) : server.handle(request);
  const handle = (request: ServerRequest): Promise<Answer> => account.account(request, answer);
  return { plane, server, keys, tunnel, handle, close: () => void running.run() };
}

/** Excludes unauthenticated clients that read health endpoints, and platform administrators. */
const isOfTenant = (user: User): boolean => user !== anonymous && !isPlatformUser(user);

const defaultModes = [
  { type: 'Node', name: 'node' },
  { type: 'RBAC', name: 'rbac' },
] as const;

type Authentication = Pick<ApiServerOptions, 'authenticators' | 'visitors' | 'serviceAccounts' | 'anonymous'>;

const withPlatform = (own: Authentication, users: PlatformUsers): Authentication => ({
  ...own,
  authenticators: [...own.authenticators, platformCertificates(users)],
  visitors: [platformTokens(users)],
});

interface ViewOptions {
  readonly path: string;
  readonly prefix: string;
  /** Entry of the identity. */
  readonly entry: Entry;
  readonly keys: TenantKeys;
  readonly link: TenantLink;
}

async function viewOf(world: TenantWorld, { path, prefix, entry, keys, link }: ViewOptions): Promise<Store> {
  const { store, storePrefix, clock } = world;
  const identity = decodeIdentity(entry.value);
  const own = fenceOf(entry);
  const isResumable = (value: Uint8Array): boolean => continuesView(own, identity.seed, decodeIdentity(value));
  const fence = { ...own, isResumable };
  const base = identity.isMaterialised ? noBase : await baseOfTenant(world, { path, identity, keys });
  const view = layeredStore({ store, prefix, base, baseRevision: baseRevisionOf(entry), fence });
  const continues = async (): Promise<boolean> => {
    const { entry: now } = await store.get(entry.key);
    return now !== undefined && isResumable(now.value);
  };
  return new QuotaStore({
    view: new FencedStore(view, { onFenced: () => link.onFenced(), continues }),
    store,
    clock,
    storePrefix,
    prefix,
    path,
    quota: () => link.tenant().spec.quota,
    isBornWith: await bornWith(world, identity),
  });
}

/** Annotation of audit events that holds the path of the tenant. */
export const tenantAnnotation = 'tenancy.hangar.dev/tenant';

const ping = { name: 'ping', check: () => undefined };

const storeProblem = (store: Store): Promise<string | undefined> =>
  store.revision().then(
    () => undefined,
    (error: Error) => error.message,
  );

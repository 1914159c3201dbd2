/** The tenants of one server: routes each request to its control plane. Code outside of this folder handles a single control plane. */

import type { Revision } from '@hangar/store';
import { Activity, currentActivity, detachedClock, hasCode, lazy, runActivity, uuid } from '@hangar/core';
import type { Allocation } from '../allocation/allocation.ts';
import type { BootstrapOptions } from '../bootstrap/objects.ts';
import type { ControlPlane } from '../control-plane.ts';
import { closingWith, isStreaming } from '../http/message.ts';
import type { Answer, Handler, ServerRequest } from '../http/message.ts';
import { NodeTotals } from '../nodes/totals.ts';
import { errorAnswer } from '../objects/answers.ts';
import { StatusError, unauthorized } from '@hangar/api';
import { isPublicPath } from '../request/public-paths.ts';
import { splitTarget } from '../request/query.ts';
import { noSuchResource } from '../resources/unknown.ts';
import type { Replacements } from './backup/replacements.ts';
import type { TenantBase } from './base/base.ts';
import { TenantExternalUsers } from './external-users/external-users.ts';
import { isForOwnHost, tenantHost, tenantOfHost } from './host.ts';
import { runAttempt } from './hold/attempt.ts';
import type { Attempt } from './hold/attempt.ts';
import { HeldRequests } from './hold/held-requests.ts';
import { RepeatableRequest } from './hold/repeatable-request.ts';
import { TenantHeld } from './hold/tenant-held.ts';
import { KeptRequestMetrics } from './metrics/kept-request-metrics.ts';
import { TenantMetrics } from './metrics/tenant-metrics.ts';
import { LastUsages } from './usage/last-usages.ts';
import type { LastUsage } from './usage/last-usage.ts';
import { UsageBook } from './usage/usage-book.ts';
import { isTenantPath } from './layout.ts';
import type { TenantFeed } from './feed/index.ts';
import type { TenantWorld } from './open-tenant.ts';
import { OpenTenants } from './open-tenants.ts';
import type { Visit } from './open-tenants.ts';
import { platformUser } from './platform-users.ts';
import { isRefusedByFence } from './remote/passed-answer.ts';
import { Quarantines } from './quarantine.ts';
import { asksForClusterInfo } from './ports/anonymous.ts';
import type { PortRange } from './ports/port-allocator.ts';
import { memberAdmission } from './projects/member-admission.ts';
import { ProjectDirectory, subjectsOf } from './projects/project-directory.ts';
import { scopedToProject } from './projects/scope.ts';
import type { Proven } from './proof.ts';
import { everyTenant, routeOf } from './route.ts';
import { RoutedRequest } from './routed-request.ts';
import { closure } from './suspension.ts';
import { asUnknown, defaultPaceMs, untilBeat } from './strangers.ts';
import { Tenants } from './tenants.ts';
import type { Tenant } from './tenant.ts';
import { tenantGroup } from './tenant.ts';
import type { Wildcard, WildcardServer } from './wildcard/index.ts';
import type * as Lazily from './lazily.ts';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';

const require = createRequire(import.meta.url);
/** Modules that only a server with tenants uses. */
const lazily = lazy(() => require('./lazily.ts') as typeof Lazily);

export interface TenancyOptions extends Omit<
  TenantWorld,
  | 'base'
  | 'usage'
  | 'tenantMetrics'
  | 'requestMetrics'
  | 'serverId'
  | 'hasNodes'
  | 'nodeTotals'
  | 'replacements'
  | 'externalUsers'
  | 'platformUsers'
  | 'scope'
> {
  /** The management plane, which holds the Tenant objects. */
  readonly root: ControlPlane;
  /** Options of the base objects of tenants; read when the first tenant is opened. */
  readonly bootstrap: () => BootstrapOptions;
  /** Host names of the server itself; tenants cannot use them. */
  readonly ownHosts: () => readonly string[];
  /** Ports for tenants with nodes. Absent: nodes use the path or the host name of their tenant. */
  readonly ports?: PortRange | undefined;
  /** Called with the final usage of a tenant that this server destroyed. */
  readonly onDestroyed?: (path: string, usage: LastUsage) => void;
  /** Number of tenants with separate metrics; the others are aggregated. */
  readonly topTenantsMax?: number;
  /** Answers to clients unknown to a tenant are delayed to a multiple of this, whether the tenant exists or not. 0: no delay. */
  readonly strangersPaceMs?: number;
}

/** A request that is being routed to a tenant. */
interface Arrival {
  /** Returns the current state of its tenant. */
  readonly find: () => Tenant | undefined;
  /** The request as received, and as the tenant sees it. */
  readonly request: ServerRequest;
  readonly routed: ServerRequest;
  /** Answers if the tenant does not exist. */
  readonly unknown: () => Promise<Answer>;
  /** The request needs no credentials, and may open the tenant. */
  readonly isPublic?: boolean;
}

/** A request whose tenant is held. */
interface HeldArrival extends Pick<Arrival, 'find' | 'request'> {
  readonly held: TenantHeld;
  readonly tenant: Tenant;
  /** When the request arrived, in monotonic time. */
  readonly sinceMs: number;
}

const attemptsMax = 4;

export class Tenancy {
  readonly tenants: Tenants;
  /** Organizations and projects of the management plane. */
  readonly projects: ProjectDirectory;
  readonly open: OpenTenants;
  readonly quarantines: Quarantines;
  readonly #world: TenantWorld;
  readonly #usage: UsageBook;
  readonly #metrics: TenantMetrics;
  /** In lower case. */
  readonly #ownHosts: () => ReadonlySet<string>;
  readonly #strangersPaceMs: number;
  readonly #externalUsers: TenantExternalUsers;
  readonly #held: HeldRequests;
  readonly #closed = new AbortController();
  readonly #replacements: () => Replacements;
  readonly #wildcard: () => Wildcard;
  readonly #wildcardServer: () => WildcardServer;

  constructor(options: TenancyOptions) {
    const { root, bootstrap, ownHosts, onDestroyed, topTenantsMax, strangersPaceMs, ports, ...world } = options;
    this.#ownHosts = () => new Set(ownHosts().map((host) => host.toLowerCase()));
    this.#strangersPaceMs = strangersPaceMs ?? defaultPaceMs;
    const base = lazy((): Promise<TenantBase> => lazily().openTenantBase(bootstrap()));
    // Timers for all tenants must not run in the activity of the tenant that set them.
    const clock = detachedClock(world.clock);
    this.#usage = new UsageBook({ ...world, clock });
    this.#metrics = new TenantMetrics({
      clock: world.clock,
      ...(topTenantsMax === undefined ? {} : { topMax: topTenantsMax }),
    });
    const requestMetrics = new KeptRequestMetrics({ clock: world.clock });
    this.#replacements = lazy(
      () =>
        new (lazily().Replacements)({
          ...world,
          clock,
          closed: this.#closed.signal,
          closeReplaced: (path) => this.open.closeFenced(path),
        }),
    );
    const serverId = uuid(world.random);
    const hasNodes = (path: string): boolean => this.tenants.find(path)?.port !== undefined;
    this.#externalUsers = new TenantExternalUsers({ ...world, find: (path) => this.tenants.find(path) });
    this.projects = new ProjectDirectory({ ...world, clock });
    root.admission.add(memberAdmission({ directory: this.projects, clock }));
    this.#world = {
      ...world,
      platformUsers: (path) => ({
        root: world.rootGuard(),
        isMember: (user) => this.projects.isMember(this.tenants.find(path), user),
        onChange: (user, listener) => this.projects.changes.follow(subjectsOf(user), listener),
      }),
      scope: (path, user) => scopedToProject(this.projects, this.tenants.find(path), user),
      externalUsers: this.#externalUsers,
      base,
      usage: this.#usage,
      tenantMetrics: this.#metrics,
      requestMetrics,
      serverId,
      hasNodes,
      nodeTotals: new NodeTotals(),
      replacements: this.#replacements,
    };
    this.#wildcard = lazy(() => new (lazily().Wildcard)({ world: this.#world, root }));
    this.#wildcardServer = lazy(
      () => new (lazily().WildcardServer)({ ...this.#world, wildcard: this.#wildcard(), root }),
    );
    const lastUsages = new LastUsages({
      usageOf: (path) => lazily().lastUsage(this.#world, path),
      onDestroyed,
      onError: world.onError,
    });
    this.#held = new HeldRequests({ clock: world.clock });
    this.open = new OpenTenants({
      clock,
      open: (link, identity) => lazily().openTenant(this.#world, link, identity),
    });
    this.tenants = new Tenants({
      ...world,
      onChange: (before, now) => {
        this.open.changed(before, now);
        this.#externalUsers.changed(before.path);
        this.#held.changed(before.path);
        this.quarantines.changed(before, now);
        if (now?.uid === before.uid) return;
        this.#metrics.forget(before.path);
        this.#usage.stalls.forget(before.path);
        requestMetrics.forget(before.path);
        lastUsages.gone(before);
      },
    });
    this.quarantines = new Quarantines({
      ...world,
      all: () => this.tenants.all,
      reached: (revision) => this.tenants.reached(revision),
    });
    root.catalogue.declare(tenantGroup, () => [
      lazily().servedTenants({
        birth: this.#closing(lastUsages.remembering(lazily().birth({ ...world, ports }))),
        url: world.url,
        hostProblem: (path, host) => {
          // An IP address always identifies the server, never a tenant.
          if (isIP(host) !== 0) return 'is an IP address, not a host name';
          if (this.#ownHosts().has(host)) return 'is already used by the management plane';
          const taken = this.tenants.findByHost(host);
          return taken === undefined || taken.path === path ? undefined : 'is already used by another tenant';
        },
        reached: (revision: Revision) => this.tenants.reached(revision),
        operations: lazily().operations(this.#world, {
          tenants: () => this.tenants.all,
          closed: this.#closed.signal,
          ended: (path) => this.open.ended(path),
        }),
      }),
      lazily().servedRetained(this.#world, root, (path) => this.tenants.find(path) !== undefined),
    ]);
  }

  /** Closes a tenant before it is destroyed, so that its watches do not receive an event for each deleted object. */
  #closing(birth: Allocation): Allocation {
    return {
      ...birth,
      remove: async (context, object) => {
        const writes = await birth.remove(context, object);
        if (writes.some(({ type }) => type === 'deleteRange')) this.open.drop(object.metadata.name!);
        return writes;
      },
    };
  }

  /** All control planes at once, for controllers of this process. */
  get wildcard(): Wildcard {
    return this.#wildcard();
  }

  /** Returns a new feed of the events of all control planes, for controllers of this process. */
  feed(): TenantFeed {
    return new (lazily().TenantFeed)(this.#world);
  }

  /** Resolves when all stored tenants are loaded. */
  async start(): Promise<void> {
    await this.projects.start();
    await this.tenants.start();
    this.quarantines.follow();
    if (this.tenants.size > 0) await this.#replacements().start();
  }

  /** Resolves when the usage is stored. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.quarantines.close();
    this.tenants.close();
    this.projects.close();
    this.open.close();
    this.#externalUsers.close();
    await this.#usage.close();
  }

  /** Returns the number of requests to the tenant that wait for the end of a hold. */
  heldRequests(path: string): number {
    return this.#held.count(path);
  }

  /** Counts a stall of the event loop in the usage of the tenant whose request caused it. */
  stalled(path: string): void {
    if (this.tenants.find(path)) this.#usage.stalls.add(path);
  }

  /** Returns the metrics of tenants on this server in the Prometheus format. */
  metricsText(): string {
    const own = this.#metrics.text({ tenants: this.tenants.size, open: this.open.size });
    return `${own}\n${this.#world.nodeTotals.text()}`;
  }

  /**
   * Returns the answer for a user that the management plane cannot authenticate, or undefined for the usual answer. At a name that a tenant
   * could have, the answer is always the usual one, whether a tenant has the name or not.
   */
  misplaced(request: ServerRequest): StatusError | undefined {
    return isForOwnHost(request, this.#ownHosts()) ? lazily().misplacedCredential(request) : undefined;
  }

  /** `root`: handler of the management plane. */
  handler(root: Handler): Handler {
    return (request) => {
      const { portOwner } = request.peer;
      if (portOwner !== undefined) return this.#atOwnPort(portOwner, request, root);
      const found = this.tenants.size === 0 ? undefined : tenantHost(request, this.tenants);
      if (found === 'misdirected') return Promise.resolve(misdirected);
      if (found) {
        const health = this.#healthOf(found, request, root);
        if (health) return health;
        return this.#visit(found.path, {
          find: () => tenantOfHost(request, this.tenants),
          request,
          routed: request,
          isPublic: asksAfterRemoteHealth(found, request),
          unknown: () => root(asUnknown(request, found)),
        });
      }
      const route = routeOf(request.target);
      if (!route) return root(request);
      // A client without credentials must not learn whether the tenant exists.
      if (showsNothing(request)) return Promise.resolve(errorAnswer(unauthorized(), request.header('accept'), []));
      if (route.path === everyTenant) return this.#wildcardServer().handle(request, route.target, root);
      return this.#visit(route.path, {
        find: () => (isTenantPath(route.path) ? this.tenants.find(route.path) : undefined),
        request,
        routed: new RoutedRequest(request, route.target),
        // The management plane authenticates the client and returns 404.
        unknown: () => root(request),
      });
    };
  }

  /** The port selected the tenant: path, Host header and server name of the request do not. */
  #atOwnPort(path: string, request: ServerRequest, root: Handler): Promise<Answer> {
    const unknown = () => Promise.resolve(errorAnswer(unauthorized(), request.header('accept'), []));
    const tenant = this.tenants.find(path);
    const health = tenant && this.#healthOf(tenant, request, root);
    if (health) return health;
    const isPublic =
      showsNothing(request) &&
      (asksForClusterInfo(request) || (tenant !== undefined && asksAfterRemoteHealth(tenant, request)));
    if (!tenant || (showsNothing(request) && !isPublic && !asksAfterHealth(request))) return unknown();
    return this.#visit(path, { find: () => this.tenants.find(path), request, routed: request, unknown, isPublic });
  }

  /** The health of a closed tenant is the health of the server: health checks do not open it. Returns undefined for other requests. */
  #healthOf(tenant: Tenant, request: ServerRequest, root: Handler): Promise<Answer> | undefined {
    if (!asksAfterHealth(request) || this.open.has(tenant)) return undefined;
    const closed = closure(tenant);
    if (!closed && tenant.serving?.mode === 'Remote') return undefined;
    return closed ? Promise.resolve(this.#refused(tenant, request, closed)) : root(request);
  }

  #visit(path: string, arrival: Arrival): Promise<Answer> {
    return inTenant(path, arrival.request, () => this.#answered(arrival));
  }

  async #answered({ find, request, routed, unknown, isPublic }: Arrival): Promise<Answer> {
    const begunMs = this.#world.clock.monotonicMs();
    let proven: Proven | undefined;
    let tenant: Tenant | undefined;
    const wasThere = find() !== undefined;
    const handled = isMutating(routed) ? new RepeatableRequest(routed) : routed;
    // The tenant may be suspended, materialised or recreated while it is being opened: then try the new state.
    for (let attempt = 0; attempt < attemptsMax && (tenant = find()); attempt++) {
      const { path } = tenant;
      if (!this.open.has(tenant)) {
        proven = isPublic ? {} : await lazily().proofOf(this.#world, path, request);
        if (!proven) break;
        const now = find();
        if (now?.uid !== tenant.uid) continue;
        tenant = now;
        // The ID of a bootstrap token proves nothing about the user: the tenant compares the secret later.
        const closed = closure(tenant, proven.identity !== undefined || proven.user !== undefined);
        if (closed) return this.#refused(tenant, routed, closed, proven);
        // Opening reads and compiles what the tenant has stored.
        currentActivity()?.authenticated(proven.user?.name ?? '', proven.identity !== undefined || !proven.user);
      }
      let visit: Visit | undefined;
      try {
        visit = await this.open.enter(tenant, proven?.identity);
      } catch (error) {
        if (hasCode(error, 'NotFound') || hasCode(error, 'Fenced')) continue;
        if (error instanceof TenantHeld) {
          // Unknown clients do not wait.
          proven ??= await lazily().proofOf(this.#world, path, request);
          if (!proven) break;
          const refusal = await this.#untilReleased({ find, held: error, request, tenant, sinceMs: begunMs });
          if (refusal) return this.#refused(tenant, routed, refusal, proven);
          proven = undefined;
          attempt = -1;
          continue;
        }
        // Only clients known to the tenant may learn that it exists.
        proven ??= await lazily().proofOf(this.#world, path, request);
        if (!proven) break;
        if (error instanceof StatusError && hasCode(error, 'ServiceUnavailable')) {
          return this.#refused(tenant, routed, error, proven);
        }
        this.#world.onError(error as Error);
        return this.#refused(tenant, routed, lazily().unavailable(path), proven);
      }
      if (!visit) continue;
      const attempted: Attempt = { hasWritten: false };
      const answer = await runAttempt(attempted, () => visit.tenant.handle(handled));
      const isFenced = isRefusedByFence(answer);
      if ((isFenced || visit.isOver()) && mayRepeat(answer, handled, attempted)) {
        visit.leave();
        proven = undefined;
        if (!isFenced) continue;
        const refusal = await this.#held.wait(tenant, request, { sinceMs: begunMs, isHeld: () => false });
        if (refusal) return this.#refused(tenant, routed, refusal);
        attempt = -1;
        continue;
      }
      if (!answer.isToStranger) return untilAnswered(visit, answer);
      visit.leave();
      proven = undefined;
      break;
    }
    if (tenant && proven) return this.#refused(tenant, routed, lazily().unavailable(tenant.path), proven);
    // As for an existing tenant: authentication by the management plane may call a remote service.
    if (!wasThere) await platformUser(this.#world.platformUsers(''), request);
    return this.#toStranger(begunMs, unknown);
  }

  /** Resolves with the refusal if the request must not wait, or not any longer. */
  #untilReleased({ find, held, request, tenant, sinceMs }: HeldArrival): Promise<StatusError | undefined> {
    const isHeld = (): boolean => {
      const now = find();
      return now?.uid === tenant.uid && (now.serving?.heldBy !== undefined || now.revision < held.revision);
    };
    return this.#held.wait(find() ?? tenant, request, { sinceMs, isHeld });
  }

  /** Refusal by the router itself, for a known user or for a health check. */
  #refused({ path }: Tenant, routed: ServerRequest, error: StatusError, proven?: Proven): Answer {
    const answer = errorAnswer(error, routed.header('accept'), []);
    this.#metrics.answered(path, answer.status, undefined);
    return lazily().auditedRefusal(this.#world, { path, routed, user: proven?.user, answer });
  }

  async #toStranger(begunMs: number, answering: () => Promise<Answer>): Promise<Answer> {
    const answer = await answering();
    await untilBeat(this.#world.clock, begunMs, this.#strangersPaceMs);
    return answer;
  }
}

/** Throws 404 for paths that only a tenant serves: such a request reaches the management plane if the tenant does not exist. */
export function insistOnRoot({ target }: ServerRequest): void {
  if (routeOf(target)) throw noSuchResource();
}

const showsNothing = (request: ServerRequest): boolean =>
  request.header('authorization') === undefined && !request.peer.certificate && !request.peer.unverified;

/** Health endpoints are public. A request with a token must be authenticated. */
const asksAfterHealth = (request: ServerRequest): boolean =>
  isPublicPath(splitTarget(request.target).path) && request.header('authorization') === undefined;

const isMutating = ({ method }: ServerRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';

/** The tenant was closed while the request was handled: an error of the server is a consequence of that, and nothing was written. */
function mayRepeat({ status, body }: Answer, request: ServerRequest, { hasWritten }: Attempt): boolean {
  if (hasWritten || isStreaming(body) || (status < 500 && status !== 429)) return false;
  return !(request instanceof RepeatableRequest) || request.isRepeatable;
}

/** The health of a tenant that another API server serves is that of the API server, also for clients without credentials. */
const asksAfterRemoteHealth = ({ serving }: Tenant, request: ServerRequest): boolean =>
  serving?.mode === 'Remote' && asksAfterHealth(request) && showsNothing(request);

/** Handles a request as an activity of the tenant. An activity of the platform that is already running keeps its name. */
function inTenant<Result>(path: string, { method, target }: ServerRequest, handle: () => Result): Result {
  const current = currentActivity();
  if (current) {
    if (current.tenant === '') current.enterTenant(path);
    return handle();
  }
  const activity = new Activity(method, target);
  activity.enterTenant(path);
  return runActivity(activity, handle);
}

/** Leaves the tenant when the last byte was sent. */
function untilAnswered(visit: Visit, answer: Answer): Answer {
  const { body } = answer;
  if (!isStreaming(body)) {
    visit.leave();
    return answer;
  }
  return { ...answer, body: closingWith(body, () => visit.leave()) };
}

/** The connection was opened for another host name: the client must use a new connection. */
const misdirected: Answer = {
  status: 421,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from('the host of the request does not match the server name of the TLS connection\n'),
};

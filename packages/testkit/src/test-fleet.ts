/**
 * Runs many clusters in one process, as Hangar does in production: a management plane with a Tenant object for each cluster, control
 * planes at `/clusters/<name>/control-plane`, and a view of all clusters at `/clusters/STAR/control-plane`, where STAR is `*`. An idle
 * cluster costs almost nothing, so a test can use a thousand of them.
 */

import { defineKind, RestClient } from '@hangar/client';
import type { ApiObject, Client, ClusterConfig, HttpTransport, InProcessHandler } from '@hangar/client';
import { assert, CleanupStack } from '@hangar/core';
import { insistOnRoot, memberAuthorizer, Outbound, Tenancy } from '@hangar/server';
import type { TenantFeed } from '@hangar/server';
import type { Store } from '@hangar/store';
import { actingAs, below } from './handlers.ts';
import { admission, bootstrapOptions, openRootPlane, tellError } from './root-plane.ts';
import type { RootPlane, WorldOptions } from './root-plane.ts';
import { driven } from './test-cluster.ts';
import { openTlsPort } from './tls-port.ts';
import type { TlsPort } from './tls-port.ts';
import { administrator, userTransport } from './users.ts';
import type { TestUser } from './users.ts';

/** Options of `startTestFleet`. */
export interface TestFleetOptions extends WorldOptions {
  /** Names of the clusters, or their number; then their names are `cluster-0`, `cluster-1`, … */
  readonly clusters: number | readonly string[];
  /** Serves TLS on a loopback port in addition. Absent: no socket. */
  readonly listen?: boolean;
  /** Authorization of the management plane, as in `TestClusterOptions`. The clusters always use RBAC. Absent: `masters`. */
  readonly authorization?: 'masters' | 'rbac';
  /**
   * Creates clusters with the objects that controllers would create in their first namespaces, such as default service accounts. Absent:
   * false.
   */
  readonly hasAccounts?: boolean;
  /** Certificate authority that the clusters publish for the port, in PEM. Absent: ''. */
  readonly servingCa?: string;
}

/** A running fleet. Disposing it stops the server. */
export interface TestFleet extends AsyncDisposable {
  /** Client of an administrator of the management plane, which has the Tenant objects. */
  readonly client: Client;
  /** Lists and watches objects of all clusters. `metadata.clusterName` of an object is the name of its cluster. */
  readonly wildcardClient: Client;
  /** Handler of the server, for custom transports and proxies. */
  readonly handler: InProcessHandler;
  /** Names of the current clusters. */
  readonly clusters: readonly string[];
  /** Returns a client of one cluster. Absent user: an administrator. */
  clientOf(cluster: string, user?: TestUser): Client;
  /** Returns the transport of a client, for example for `faultyTransport`. `*` is all clusters; absent: the management plane. */
  transportOf(cluster?: string, user?: TestUser): HttpTransport;
  /** Creates a cluster and returns the client of an administrator. */
  createCluster(name: string, labels?: Readonly<Record<string, string>>): Promise<Client>;
  /** Deletes a cluster, including all its data. */
  deleteCluster(name: string): Promise<void>;
  /** Returns a configuration for `connect`. `*` is all clusters; absent: the management plane. Requires `listen`. */
  configOf(cluster?: string): ClusterConfig;
  /** Returns the same as a kubeconfig. */
  kubeconfigOf(cluster?: string): string;
  /** Returns a new feed of all changes in all clusters and in the management plane (`root`), in order. */
  feed(): TenantFeed;
  /** Store of all data, for tests that count or inject store errors. */
  readonly store: Store;
}

interface TenantObject extends ApiObject {
  spec: { deletionPolicy?: 'Retain' | 'Destroy' };
}

/** The kind of the object in the management plane that represents a cluster. */
export const Tenant = defineKind<TenantObject>({
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
});

/**
 * Starts a fleet.
 *
 *     await using fleet = await startTestFleet({ clusters: 100 });
 *     await fleet.clientOf('cluster-7').create(ConfigMap, { metadata: { namespace: 'default', name: 'settings' } });
 */
export function startTestFleet(options: TestFleetOptions): Promise<TestFleet> {
  return driven(options.clock, open(options));
}

const createdAtOnceMax = 64;

async function open({
  clusters,
  listen = false,
  hasAccounts,
  servingCa,
  ...options
}: TestFleetOptions): Promise<TestFleet> {
  await using opened = new CleanupStack();
  const root = await openRootPlane({
    ...options,
    admits: (_info, request) => insistOnRoot(request),
    authorizers: [memberAuthorizer(() => tenancy.projects)],
  });
  opened.defer(() => root.close());
  const outbound = new Outbound({ clock: root.clock });
  opened.defer(() => outbound.close());
  const tenancy = tenancyOf(root, {
    outbound,
    url: () => port?.url ?? 'https://127.0.0.1:6443',
    hasAccounts: hasAccounts ?? false,
    servingCa: servingCa ?? '',
  });
  opened.defer(() => tenancy.close());
  await tenancy.start();
  const handler = tenancy.handler((request) => root.server.handle(request)) as InProcessHandler;
  const port = listen ? await openTlsPort(handler) : undefined;
  if (port) opened.defer(() => port.close());
  const fleet = new RunningFleet({
    root,
    handler,
    port,
    feed: () => tenancy.feed(),
    names: () => [...tenancy.tenants.all].map(({ path }) => path),
  });
  opened.defer(() => fleet.closeClients());
  const names = typeof clusters === 'number' ? numbered(clusters) : clusters;
  for (let at = 0; at < names.length; at += createdAtOnceMax) {
    await Promise.all(names.slice(at, at + createdAtOnceMax).map((name) => fleet.createCluster(name)));
  }
  const closing = opened.move();
  fleet.onDispose = () => driven(root.clock, closing.run());
  return fleet;
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `cluster-${at}`);

const planePath = (cluster: string | undefined): string =>
  cluster === undefined ? '' : `/clusters/${cluster}/control-plane`;

interface TenancyParts {
  readonly outbound: Outbound;
  readonly url: () => string;
  readonly hasAccounts: boolean;
  readonly servingCa: string;
}

function tenancyOf(root: RootPlane, { outbound, url, hasAccounts, servingCa }: TenancyParts): Tenancy {
  const { plane, store, clock, random, server } = root;
  return new Tenancy({
    root: plane,
    store,
    storePrefix: '/registry',
    clock,
    random,
    outbound,
    admission,
    bootstrap: () => ({ ...bootstrapOptions, hasAccounts }),
    ownHosts: () => ['localhost'],
    rootGuard: () => server.guard,
    url: (path) => `${url()}${planePath(path)}`,
    servingCa: () => servingCa,
    onError: tellError,
    // Tests do not guess names, and in virtual time such a delay would need an advance.
    strangersPaceMs: 0,
  });
}

interface FleetParts {
  readonly root: RootPlane;
  readonly handler: InProcessHandler;
  readonly port: TlsPort | undefined;
  readonly feed: () => TenantFeed;
  readonly names: () => readonly string[];
}

class RunningFleet implements TestFleet {
  readonly #parts: FleetParts;
  readonly #clients = new Map<string, Client>();
  readonly client: Client;
  readonly wildcardClient: Client;
  onDispose: () => Promise<void> = () => Promise.resolve();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.client = this.#clientOf(undefined, administrator);
    this.wildcardClient = this.#clientOf('*', administrator);
  }

  get handler(): InProcessHandler {
    return this.#parts.handler;
  }

  get clusters(): readonly string[] {
    return this.#parts.names();
  }

  get store(): Store {
    return this.#parts.root.store;
  }

  feed(): TenantFeed {
    return this.#parts.feed();
  }

  clientOf(cluster: string, user: TestUser = administrator): Client {
    return this.#clientOf(cluster, user);
  }

  transportOf(cluster?: string, user: TestUser = administrator): HttpTransport {
    const { handler, root } = this.#parts;
    if (cluster === undefined) return userTransport(handler, user, root.clock);
    // Users of the management plane have no permissions in its clusters, but its masters may impersonate any user.
    const asUser = user === administrator ? handler : actingAs(user, handler);
    return userTransport(below(planePath(cluster), asUser), administrator, root.clock);
  }

  async createCluster(name: string, labels?: Readonly<Record<string, string>>): Promise<Client> {
    const metadata = labels === undefined ? { name } : { name, labels: { ...labels } };
    await this.client.create(Tenant, { metadata, spec: { deletionPolicy: 'Destroy' } });
    return this.clientOf(name);
  }

  async deleteCluster(name: string): Promise<void> {
    await this.client.delete(Tenant, { name });
  }

  configOf(cluster?: string): ClusterConfig {
    return this.#listening().configOf(administrator, planePath(cluster));
  }

  kubeconfigOf(cluster?: string): string {
    return this.#listening().kubeconfigOf(administrator, planePath(cluster));
  }

  async closeClients(): Promise<void> {
    await Promise.all(Array.from(this.#clients.values(), (client) => client.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.onDispose();
  }

  #clientOf(cluster: string | undefined, user: TestUser): Client {
    const id = JSON.stringify([cluster, user]);
    let client = this.#clients.get(id);
    if (client === undefined) {
      const { clock, random } = this.#parts.root;
      this.#clients.set(id, (client = new RestClient(this.transportOf(cluster, user), { clock, random })));
    }
    return client;
  }

  #listening(): TlsPort {
    assert(this.#parts.port, 'this fleet has no socket: start it with listen: true');
    return this.#parts.port;
  }
}

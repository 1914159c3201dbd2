/**
 * Many clusters in one process, as Hangar has them: a management plane with a Tenant for each, control planes behind
 * `/clusters/<name>/control-plane`, and all of them on one stream behind `/clusters/STAR/control-plane`, where STAR is `*`. A cluster
 * that nobody asks costs next to nothing, so a thousand are fine.
 */

import { defineKind, RestClient } from '@hangar/client';
import type { ApiObject, Client, ClusterConfig, HttpTransport, InProcessHandler } from '@hangar/client';
import { assert, CleanupStack } from '@hangar/core';
import { insistOnRoot, Outbound, Tenancy } from '@hangar/server';
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

export interface TestFleetOptions extends WorldOptions {
  /** How many (`cluster-0`, …), or which. */
  readonly clusters: number | readonly string[];
  /** Real TLS on loopback, besides. Absent: no socket. */
  readonly listen?: boolean;
  /** Of the management plane; its clusters have RBAC always. Absent: `masters`. */
  readonly authorization?: 'masters' | 'rbac';
  /** Clusters are born with what controllers would make in their first namespaces. Absent: no, nobody makes it. */
  readonly hasAccounts?: boolean;
  /** What the port shows, as clusters publish it; PEM. Absent: ''. */
  readonly servingCa?: string;
}

export interface TestFleet extends AsyncDisposable {
  /** Of the management plane, where Tenants are. May do everything. */
  readonly client: Client;
  /** Lists and watches over all clusters; objects say whose they are in `metadata.clusterName`. */
  readonly wildcardClient: Client;
  readonly handler: InProcessHandler;
  /** As they are now. */
  readonly clusters: readonly string[];
  /** In one of the clusters. Absent user: may do everything. */
  clientOf(cluster: string, user?: TestUser): Client;
  /** For `faultyTransport` and the like. `*` is all clusters; absent: the management plane. */
  transportOf(cluster?: string, user?: TestUser): HttpTransport;
  createCluster(name: string, labels?: Readonly<Record<string, string>>): Promise<Client>;
  /** With everything that is in it. */
  deleteCluster(name: string): Promise<void>;
  /** Of a fleet with `listen`: for `connect`. `*` is all clusters; absent: the management plane. */
  configOf(cluster?: string): ClusterConfig;
  kubeconfigOf(cluster?: string): string;
  /** Everything that happens in all clusters and in the management plane (`root`), in order. A new one with each call. */
  feed(): TenantFeed;
  /** What everything is stored in, for tests that break or count it. */
  readonly store: Store;
}

interface TenantObject extends ApiObject {
  spec: { deletionPolicy?: 'Retain' | 'Destroy' };
}

/** A cluster, as the management plane has it. */
export const Tenant = defineKind<TenantObject>({
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
});

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
  const root = await openRootPlane({ ...options, admits: (_info, request) => insistOnRoot(request) });
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
    // Nobody guesses names here, and in virtual time such a pause would have to be driven.
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
    // The management plane's users are nobody in its clusters, but its masters may be anybody.
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

/** Feed listener for tests, and the state that it collects. */

import type { KubeObject } from '@hangar/api';
import type { Revision } from '@hangar/store';
import { planePath } from '../../testing/tenancy-server.ts';
import type { TenancyServer } from '../../testing/tenancy-server.ts';
import type { FedChange, FedResource, FeedListener } from './contract.ts';
import type { TenantFeed } from './tenant-feed.ts';

const idOf = ({ cluster, group, resource, namespace, name }: FedChange): string =>
  `${cluster} ${resource}${group === '' ? '' : `.${group}`} ${namespace}/${name}`;

/** A feed of this process, or one over HTTP. */
export type FollowedFeed = Pick<TenantFeed, 'follow'>;

export class FeedRecorder<Feed extends FollowedFeed = TenantFeed> implements FeedListener, AsyncDisposable {
  readonly feed: Feed;
  /** Revision by ID. */
  readonly known = new Map<string, string>();
  /** All calls, in order. */
  readonly told: string[] = [];
  readonly changes: FedChange[] = [];
  readonly tenants = new Map<string, KubeObject>();
  readonly #wants: (resource: FedResource) => boolean;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #waiting = new Set<{ isSo: () => boolean; resolve: () => void }>();

  constructor(feed: Feed, wants: (resource: FedResource) => boolean = () => true) {
    this.feed = feed;
    this.#wants = wants;
    this.#running = feed.follow(this, this.#stopping.signal);
  }

  /** Returns a recorder that has received the initial state. */
  static async open(server: TenancyServer, wants?: (resource: FedResource) => boolean): Promise<FeedRecorder> {
    const recorder = new FeedRecorder(server.tenancy.feed(), wants);
    await recorder.until(() => recorder.told.includes('synced'));
    return recorder;
  }

  wants(resource: FedResource): boolean {
    return this.#wants(resource);
  }

  changed(change: FedChange): void {
    const id = idOf(change);
    if (change.type === 'put') this.known.set(id, change.resourceVersion);
    else this.known.delete(id);
    this.changes.push(change);
    this.#tell(`${change.isInitial ? 'initial ' : ''}${change.type} ${id}`);
  }

  synced(): void {
    this.#tell('synced');
  }

  reset(): void {
    this.known.clear();
    this.tenants.clear();
    this.#tell('reset');
  }

  clusterChanged(cluster: string, tenant: KubeObject): void {
    this.tenants.set(cluster, tenant);
    this.#tell(`cluster ${cluster}`);
  }

  clusterTold(cluster: string): void {
    this.#tell(`told ${cluster}`);
  }

  clusterGone(cluster: string): void {
    this.tenants.delete(cluster);
    for (const id of this.known.keys()) if (id.startsWith(`${cluster} `)) this.known.delete(id);
    this.#tell(`gone ${cluster}`);
  }

  until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ isSo, resolve }));
  }

  /** Resolves when all writes until now were received. It writes a mark of its own into a control plane that the test does not check. */
  async caughtUp(server: TenancyServer, cluster = 'root'): Promise<Revision> {
    const name = `mark-${await server.store.revision()}`;
    const marker = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } };
    const maps = `${cluster === 'root' ? '' : planePath(cluster)}/api/v1/namespaces/default/configmaps`;
    await server.expect(201, 'POST', maps, { body: marker });
    await server.expect(200, 'DELETE', `${maps}/${name}`);
    await this.until(() => this.told.includes(`delete ${cluster} configmaps default/${name}`));
    return server.store.revision();
  }

  /** Returns the calls since the last invocation, without the marks. */
  news(): string[] {
    return this.told.splice(0).filter((one) => !one.includes('default/mark-'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #tell(what: string): void {
    this.told.push(what);
    for (const waiting of this.#waiting) {
      if (!waiting.isSo()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}

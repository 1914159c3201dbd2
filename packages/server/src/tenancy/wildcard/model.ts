/** Model test: random operations on tenants and objects. Folding one stream of all tenants must yield the lists of each. */

import assert from 'node:assert/strict';
import { pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Revision, Store } from '@hangar/store';
import type { ResourceName } from '../../resources/catalogue.ts';
import { withoutType } from '../../verbs/list.ts';
import { planePath, tenant, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import type { Data, Sent } from '../../testing/test-server.ts';
import { backup, restore } from '../backup/testing.ts';
import { contentOf, moveAway, moveBack } from '../replica/testing.ts';
import type { TenantContent } from '../replica/testing.ts';
import type { ClusterWatch } from './index.ts';

const names = ['a', 'a-b', 'clusters', 'control-plane', 'z'];

interface Followed {
  readonly name: ResourceName;
  readonly path: string;
  readonly kind: string;
  /** Namespace and name; some are in the base. */
  readonly objects: readonly (readonly [string, string])[];
}

export const followed: readonly Followed[] = [
  {
    name: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' },
    path: '/apis/rbac.authorization.k8s.io/v1',
    kind: 'Role',
    objects: [
      ['kube-system', 'extension-apiserver-authentication-reader'],
      ['kube-system', 'system:controller:token-cleaner'],
      ['kube-public', 'system:controller:bootstrap-signer'],
      ['default', 'roles'],
      ['default', 'clusters'],
    ],
  },
  {
    name: { group: '', version: 'v1', resource: 'configmaps' },
    path: '/api/v1',
    kind: 'ConfigMap',
    objects: [
      ['kube-public', 'cluster-info'],
      ['kube-system', 'extension-apiserver-authentication'],
      ['default', 'configmaps'],
      ['default', 'one'],
    ],
  },
];

const pathOf = (cluster: string): string => (cluster === 'root' ? '' : planePath(cluster));

/** State of a watcher: `cluster/namespace/name` → the object. */
class Fold {
  readonly known = new Map<string, Data>();
  readonly #watch: ClusterWatch;
  revision: Revision;

  private constructor(watch: ClusterWatch, revision: Revision) {
    this.#watch = watch;
    this.revision = revision;
  }

  static async open(server: TenancyServer, name: ResourceName, atRevision?: Revision): Promise<Fold> {
    const { wildcard } = server.tenancy;
    const { pages, revision } = await wildcard.list(name, atRevision === undefined ? {} : { atRevision });
    const fold = new Fold(wildcard.watch(name, revision), revision);
    for await (const page of pages) for (const { object } of page) fold.known.set(idOf(object()), object());
    return fold;
  }

  /** Reads until the revision is reached, and asserts that every event matches the state. */
  async until(revision: Revision): Promise<void> {
    while (this.revision < revision) {
      this.#watch.requestProgress();
      const batch = await this.#watch.next();
      assert.ok(batch && batch.revision >= this.revision);
      this.revision = batch.revision;
      for (const { type, cluster, object, previous } of batch.events) {
        const now: Data = object();
        const id = idOf(now);
        assert.equal(now.metadata.clusterName, cluster);
        assert.equal(this.known.has(id), type !== 'ADDED', `${type} ${id} at ${batch.revision}`);
        if (type !== 'ADDED') {
          assert.equal(String(previous!.modRevision), this.known.get(id).metadata.resourceVersion, `${type} ${id}`);
        }
        if (type === 'DELETED') this.known.delete(id);
        else this.known.set(id, now);
      }
    }
  }

  close(): void {
    this.#watch.close();
  }
}

const idOf = ({ metadata }: Data): string => `${metadata.clusterName}/${metadata.namespace}/${metadata.name}`;

/** Performs random operations on tenants and objects, in an order determined by a seed. */
export class Run {
  readonly server: TenancyServer;
  readonly random: Random;
  readonly alive = new Set<string>();
  /** Those that another API server serves, with the content that they get back. */
  readonly away = new Map<string, TenantContent>();

  /** Reports whether the store can receive the content of a tenant. */
  readonly restoresRevisions: boolean;

  constructor(server: TenancyServer, random: Random, { restoresRevisions = true } = {}) {
    this.server = server;
    this.random = random;
    this.restoresRevisions = restoresRevisions;
  }

  async step(): Promise<void> {
    const dice = this.random.below(10);
    if (dice === 0 || this.served.length === 0) await this.#make();
    else if (dice === 1) await this.#end();
    else if (dice === 2 && this.random.below(4) === 0) await this.#materialise();
    else if (dice === 3 && this.random.below(4) === 0) await this.#copy();
    else if (dice === 4 && this.random.below(2) === 0) await this.#migrate();
    else await this.#write();
  }

  /** Tenants whose data this server serves. */
  get served(): string[] {
    return [...this.alive].filter((name) => !this.away.has(name));
  }

  async #make(): Promise<void> {
    const name = pick(this.random, names);
    const body = tenant(name, { deletionPolicy: pick(this.random, ['Retain', 'Destroy']) });
    const { status } = await this.server.request('POST', tenants, { body });
    assert.equal(status, this.alive.has(name) ? 409 : 201);
    this.alive.add(name);
  }

  async #end(): Promise<void> {
    const name = pick(this.random, [...this.alive]);
    // Retained data would keep an address that serves nothing.
    const spec = { deletionPolicy: 'Destroy' };
    const contentType = 'application/merge-patch+json';
    if (this.away.delete(name)) {
      await this.server.expect(200, 'PATCH', `${tenants}/${name}`, { body: { spec }, contentType });
    }
    await this.server.expect(200, 'DELETE', `${tenants}/${name}`);
    this.alive.delete(name);
  }

  /** Holds a tenant and releases it, moves it away, changes the data of one that is away, or moves it back. */
  async #migrate(): Promise<void> {
    const name = pick(this.random, [...this.alive]);
    const content = this.away.get(name);
    if (content && this.random.below(3) === 0) {
      await this.server.expect(201, 'POST', `${tenants}/${name}/replica?id=back&action=delete`);
    } else if (content) {
      await moveBack(this.server, name, content);
      this.away.delete(name);
    } else if (this.restoresRevisions && this.random.below(3) > 0) {
      const current = await contentOf(this.server, name);
      await moveAway(this.server, name);
      this.away.set(name, current);
    } else {
      for (const act of ['hold', 'release']) await this.server.expect(201, 'POST', `${tenants}/${name}/${act}?id=m`);
    }
  }

  async #materialise(): Promise<void> {
    await this.server.expect(200, 'POST', `${tenants}/${pick(this.random, this.served)}/materialise`);
  }

  /** Restores a backup of one tenant as another. */
  async #copy(): Promise<void> {
    const file = await backup(this.server, pick(this.random, this.served));
    const name = pick(this.random, names);
    const { status, data } = await restore(this.server, `${name}/restore`, file);
    // 409: retained data exists at the path.
    assert.ok(status === 201 || status === 409, JSON.stringify(data));
    if (status === 201) this.alive.add(name);
  }

  async #write(): Promise<void> {
    const { name, path, kind, objects } = pick(this.random, followed);
    const [namespace, object] = pick(this.random, objects);
    const cluster = pick(this.random, [...this.served, 'root']);
    const collection = `${pathOf(cluster)}${path}/namespaces/${namespace}/${name.resource}`;
    const labels = { at: String(this.random.below(1_000_000)) };
    const apiVersion = name.group === '' ? name.version : `${name.group}/${name.version}`;
    const metadata = { name: object, labels, clusterName: 'somebody-else' };
    const requests: Readonly<Record<string, readonly [string, string, Sent]>> = {
      create: ['POST', collection, { body: { kind, apiVersion, metadata } }],
      change: [
        'PATCH',
        `${collection}/${object}`,
        { body: { metadata: { labels, clusterName: 'b' } }, contentType: 'application/merge-patch+json' },
      ],
      remove: ['DELETE', `${collection}/${object}`, {}],
    };
    const { status, text } = await this.server.request(...pick(this.random, Object.values(requests)));
    assert.ok([200, 201, 404, 409].includes(status), text);
  }

  /** Returns the objects as listed by each control plane. */
  async truth({ name, path }: Followed): Promise<Map<string, Data>> {
    const all = new Map<string, Data>();
    for (const cluster of [...this.served, 'root']) {
      const { items } = await this.server.expect(200, 'GET', `${pathOf(cluster)}${path}/${name.resource}`);
      for (const item of items) {
        assert.equal(item.metadata.clusterName, undefined);
        item.metadata.clusterName = cluster;
        all.set(idOf(item), item);
      }
    }
    return all;
  }
}

/** Removes the type: list items do not have one. */
const untyped = (known: ReadonlyMap<string, Data>): Map<string, Data> =>
  new Map(Array.from(known, ([id, object]) => [id, withoutType(object)]));

export interface ModelOptions {
  /** Absent: a memory store. */
  readonly store?: Store;
  readonly restoresRevisions?: boolean;
}

/** Rejects if the stream of all control planes does not match their lists. */
export async function insistOnModel(seed: number, { store, ...options }: ModelOptions = {}): Promise<void> {
  await using server = await TenancyServer.open(store ? { store } : {});
  const run = new Run(server, seededRandom(seed), options);
  const begun = await server.store.revision();
  const folds = await Promise.all(followed.map(({ name }) => Fold.open(server, name)));
  for (let round = 0; round < 12; round++) {
    for (let at = 1 + run.random.below(12); at > 0; at--) await run.step();
    // A request to a tenant may create its keys: so read the lists first, then the stream.
    const truths: Map<string, Data>[] = [];
    for (const one of followed) truths.push(await run.truth(one));
    const revision = await server.store.revision();
    for (const [at, fold] of folds.entries()) {
      await fold.until(revision);
      assert.deepEqual(untyped(fold.known), truths[at]);
      const listed = await Fold.open(server, followed[at]!.name);
      listed.close();
      assert.deepEqual(untyped(listed.known), truths[at]);
    }
  }
  // A watch that starts at any revision in between reaches the same state.
  const end = await server.store.revision();
  for (let at = 0; at < 10; at++) {
    const between = (begun + run.random.below(end - begun + 1)) as Revision;
    for (const [which, { name }] of followed.entries()) {
      const fold = await Fold.open(server, name, between);
      await fold.until(end);
      assert.deepEqual(fold.known, folds[which]!.known, `from ${between}`);
      fold.close();
    }
  }
  for (const fold of folds) fold.close();
}

/**
 * The controller of a fleet: over the tenants of a Hangar, all on one stream; and over the clusters of a folder of kubeconfigs, the real
 * kube-apiserver and Hangar.
 */

import assert from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseYamlDocuments } from '@hangar/api/yaml';
import { connect, find, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, ResourceQuota } from '@hangar/client/kinds/core-v1';
import { Tenant } from '@hangar/testkit';
import { eventually } from './testing/eventually.ts';
import { Example, exampleFolder } from './testing/example.ts';
import { assertExactRights, Side } from './testing/sides.ts';

const manifest = (name: string): string => join(exampleFolder('fleet-quotas'), name);
const home = { namespace: 'fleet-quotas', name: 'fleet-quotas' };
const member = { namespace: 'fleet-quotas', name: 'fleet-quotas-member' };
const template = { namespace: 'fleet-quotas', name: 'fleet-quota' };
const engaged = 'hangar_runtime_engaged_clusters{controller="fleet-quota"}';
/** Maximum time until the clusters of a dead process are served by another. */
const takeOverMs = 15_000;

describe('the fleet controller', { concurrency: 2 }, () => {
  const opened = new AsyncDisposableStack();
  let hangar: Side;
  let real: Side;

  before(async () => {
    hangar = opened.use(await Side.start('hangar'));
    real = opened.use(await Side.start('real'));
    await Promise.all(
      [hangar, real].map((side) => side.apply(manifest('rbac.yaml'), manifest('rbac-of-clusters.yaml'))),
    );
  });
  after(() => opened.disposeAsync());

  describe('of the tenants of a Hangar', { concurrency: 1 }, () => ofTenants(() => hangar));
  describe('of a folder of kubeconfigs', { concurrency: 1 }, () =>
    ofKubeconfigs(
      () => real,
      () => hangar,
    ),
  );
});

const setTemplate = (client: Client, pods: string): Promise<ConfigMap> =>
  client.apply(ConfigMap, { metadata: template, data: { pods } }, { fieldManager: 'test' });

/** Returns `cluster/namespace` of every namespace with another quota; empty when all have this one. */
const missing = (namespaces: readonly string[], quotas: ReadonlyMap<string, string | undefined>, pods: string) =>
  namespaces.filter((namespace) => quotas.get(namespace) !== pods);

interface Fleet {
  /** Returns all namespaces as `cluster/namespace`. */
  namespaces(): Promise<string[]>;
  /** Returns their quotas of pods, by the same keys. */
  quotas(): Promise<Map<string, string | undefined>>;
}

/** Resolves with the time until every namespace has the quota. */
async function served(fleet: Fleet, pods: string, withinMs?: number): Promise<number> {
  const startedMs = performance.now();
  await eventually(
    `${pods} pods everywhere`,
    async () => {
      const left = missing(await fleet.namespaces(), await fleet.quotas(), pods);
      if (left.length > 0) throw new Error(`${left.length} left: ${left.slice(0, 5).join(', ')}`);
      return true;
    },
    withinMs,
  );
  return performance.now() - startedMs;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function ofTenants(given: () => Side): void {
  const opened = new AsyncDisposableStack();
  let hangar: Side;
  let everyone: Client;
  let fleet: Fleet;
  let a: Example;
  let b: Example;
  const names = Array.from({ length: 20 }, (_, at) => `tenant-${at}`);

  const clientAt = async (path: string): Promise<Client> => {
    const config = await loadKubeconfig(hangar.plane.kubeconfig);
    const client = connect({ ...config, server: `${config.server}/clusters/${path}/control-plane` });
    opened.defer(() => client.close());
    return client;
  };
  const createTenant = (name: string) =>
    hangar.client.create(Tenant, { metadata: { name }, spec: { deletionPolicy: 'Destroy' } });
  const suspend = (name: string, suspension: 'ReadOnly' | null) =>
    hangar.client.patch(Tenant, { name }, { type: 'merge', body: { spec: { suspension } } });
  // A reader of all tenants is in system:masters: no role can allow it.
  const start = async (peer: string): Promise<Example> =>
    opened.use(
      await Example.start({ example: 'fleet-quotas', env: { KUBECONFIG: hangar.plane.kubeconfig, PEER: peer } }),
    );
  const engagedBy = async (...processes: readonly Example[]): Promise<number> => {
    const counts = await Promise.all(processes.map((one) => one.metric(engaged)));
    return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  };

  before(async () => {
    hangar = given();
    everyone = await clientAt('*');
    // `root` is the management plane itself, not a tenant.
    const isTenants = ({ metadata }: { metadata: object }) => clusterOf({ metadata }) !== 'root';
    fleet = {
      async namespaces() {
        const { items } = await everyone.list(Namespace);
        return items.filter(isTenants).map((one) => `${clusterOf(one)}/${one.metadata.name}`);
      },
      async quotas() {
        const { items } = await everyone.list(ResourceQuota);
        const named = items.filter(({ metadata }) => metadata.name === template.name).filter(isTenants);
        return new Map(named.map((one) => [`${clusterOf(one)}/${one.metadata.namespace}`, one.spec?.hard?.['pods']]));
      },
    };
    await Promise.all(names.map(createTenant));
    await setTemplate(hangar.client, '10');
    a = await start('a');
  });
  after(() => opened.disposeAsync());

  test('every namespace of twenty tenants gets its quota', async () => {
    const tookMs = await served(fleet, '10');
    assert.equal((await fleet.quotas()).size, names.length * 4);
    console.log(`80 namespaces of 20 tenants: ${seconds(tookMs)} after the process was ready`);
  });

  test('so does a new namespace; what somebody changes or removes is back', async () => {
    const client = await clientAt('tenant-7');
    await client.create(Namespace, { metadata: { name: 'new' } });
    await served(fleet, '10');
    const quota = { namespace: 'new', name: template.name };
    await client.patch(ResourceQuota, quota, { type: 'merge', body: { spec: { hard: { pods: '99' } } } });
    await served(fleet, '10');
    await client.delete(ResourceQuota, quota);
    await served(fleet, '10');
  });

  test('tenants that come are served, those that go are forgotten', async () => {
    await createTenant('late');
    await eventually('21 are engaged', async () => (await engagedBy(a)) === 21);
    await served(fleet, '10');
    await hangar.client.delete(Tenant, { name: 'late' });
    await eventually('20 are engaged', async () => (await engagedBy(a)) === 20);
  });

  test('another template reaches all but the one that is suspended, and that one when it is back', async () => {
    await suspend('tenant-3', 'ReadOnly');
    await eventually('19 are engaged', async () => (await engagedBy(a)) === 19);
    await setTemplate(hangar.client, '20');
    const awake: Fleet = {
      ...fleet,
      namespaces: async () => (await fleet.namespaces()).filter((one) => !one.startsWith('tenant-3/')),
    };
    console.log(`another template is in all tenants in ${seconds(await served(awake, '20'))}`);
    assert.equal((await fleet.quotas()).get('tenant-3/default'), '10');
    await suspend('tenant-3', null);
    await served(fleet, '20');
  });

  test('a second process takes its share', async () => {
    b = await start('b');
    await eventually('both have some', async () => {
      const [ofA, ofB] = [await engagedBy(a), await engagedBy(b)];
      return ofA > 0 && ofB > 0 && ofA + ofB === 20;
    });
    await setTemplate(hangar.client, '30');
    await served(fleet, '30');
  });

  test('when one is killed, all of its tenants are served by the other in fifteen seconds', async () => {
    const startedMs = performance.now();
    await b.end('SIGKILL');
    await setTemplate(hangar.client, '40');
    await served(fleet, '40', 2 * takeOverMs);
    const tookMs = performance.now() - startedMs;
    console.log(`tenants of a killed process are served in ${seconds(tookMs)}`);
    assert.ok(tookMs <= takeOverMs, `${tookMs} ms`);
    assert.equal(await engagedBy(a), 20);
  });

  test('when one is asked to end, the other has its tenants at once', async () => {
    b = await start('b');
    await eventually('it has some', async () => (await engagedBy(b)) > 0);
    const startedMs = performance.now();
    assert.equal(await a.end('SIGTERM'), 0, a.output);
    await setTemplate(hangar.client, '50');
    await served(fleet, '50');
    const tookMs = performance.now() - startedMs;
    console.log(`tenants of a process that ended are served in ${seconds(tookMs)}`);
    assert.ok(tookMs < 8_000, `${tookMs} ms: that is the time of a lease that ran out`);
  });

  test('without the template there are no quotas', async () => {
    await hangar.client.delete(ConfigMap, template);
    await eventually('none is left', async () => (await fleet.quotas()).size === 0);
    assert.equal(await b.metric('hangar_shard_unowned_clusters{group="fleet-quotas"}'), 0);
    assert.equal(await b.end('SIGTERM'), 0, b.output);
  });
}

const clusterOf = ({ metadata }: { metadata: object }): string =>
  (metadata as { readonly clusterName?: string }).clusterName ?? '';

function ofKubeconfigs(givenReal: () => Side, givenHangar: () => Side): void {
  const opened = new AsyncDisposableStack();
  let real: Side;
  let hangar: Side;
  let fleet: Fleet;
  let folder: string;
  let a: Example;
  let b: Example;

  const put = async (name: string, text: string): Promise<void> => {
    await writeFile(join(real.folder, name), text);
    await rename(join(real.folder, name), join(folder, name));
  };
  const start = async (peer: string): Promise<Example> => {
    const kubeconfig = await real.kubeconfigOf(home);
    const env = { KUBECONFIG: kubeconfig, CLUSTERS: folder, PEER: peer };
    return opened.use(await Example.start({ example: 'fleet-quotas', env }));
  };
  const fleetOf = (sides: Readonly<Record<string, Side>>): Fleet => ({
    async namespaces() {
      const lists = Object.entries(sides).map(async ([name, { client }]) =>
        (await client.list(Namespace)).items.map(({ metadata }) => `${name}/${metadata.name}`),
      );
      return (await Promise.all(lists)).flat();
    },
    async quotas() {
      const lists = Object.entries(sides).map(async ([name, { client }]) =>
        (await client.list(ResourceQuota)).items
          .filter(({ metadata }) => metadata.name === template.name)
          .map(({ metadata, spec }) => [`${name}/${metadata.namespace}`, spec?.hard?.['pods']] as const),
      );
      return new Map((await Promise.all(lists)).flat());
    },
  });

  before(async () => {
    [real, hangar] = [givenReal(), givenHangar()];
    folder = join(real.folder, 'clusters');
    await mkdir(folder);
    fleet = fleetOf({ east: real, west: hangar });
    await put('broken.yaml', 'clusters: [this is: no kubeconfig');
    await put('hung.yaml', await hungKubeconfig(opened));
    await put('east.yaml', await readFile(await real.kubeconfigOf(member), 'utf8'));
    await put('west.yaml', await readFile(await hangar.kubeconfigOf(member), 'utf8'));
    await setTemplate(real.client, '10');
    a = await start('a');
  });
  after(() => opened.disposeAsync());

  test('every namespace of both clusters gets its quota; those that cannot be reached delay nobody', async () => {
    const tookMs = await served(fleet, '10', 20_000);
    console.log(`two clusters beside a broken and a hung one: ${seconds(tookMs)} after the process was ready`);
    assert.equal(await a.metric(engaged), 2);
  });

  test('another template reaches both, and what somebody changes is repaired', async () => {
    await setTemplate(real.client, '20');
    await served(fleet, '20');
    for (const side of [real, hangar]) {
      const quota = { namespace: 'default', name: template.name };
      await side.client.patch(ResourceQuota, quota, { type: 'merge', body: { spec: { hard: { pods: '99' } } } });
      await side.client.create(Namespace, { metadata: { name: 'new' } });
    }
    await served(fleet, '20');
  });

  test('a kubeconfig that is mended is a cluster', async () => {
    await put('broken.yaml', await readFile(await real.kubeconfigOf(member), 'utf8'));
    await eventually('it is engaged', async () => (await a.metric(engaged)) === 3);
    await put('broken.yaml', 'broken again');
    // The known state stays while a file is being written: the cluster is removed with its entry.
    await served(fleet, '20');
  });

  test('two processes share them; when one is killed, the other serves all in fifteen seconds', async () => {
    b = await start('b');
    await eventually(
      'both are members',
      async () => (await b.metric('hangar_shard_peers{group="fleet-quotas"}')) === 2,
    );
    await setTemplate(real.client, '30');
    await served(fleet, '30');
    const startedMs = performance.now();
    await a.end('SIGKILL');
    await setTemplate(real.client, '40');
    await served(fleet, '40', 2 * takeOverMs);
    const tookMs = performance.now() - startedMs;
    console.log(`clusters of a killed process are served in ${seconds(tookMs)}`);
    assert.ok(tookMs <= takeOverMs, `${tookMs} ms`);
  });

  test('without the template there are no quotas', async () => {
    await real.client.delete(ConfigMap, template);
    await eventually('none is left', async () => (await fleet.quotas()).size === 0);
    assert.equal(await b.end('SIGTERM'), 0, b.output);
    assert.equal(await find(real.client, ConfigMap, template), undefined);
  });

  test('it used every right that its roles give, and was refused none', async () => {
    const rolesIn = async (name: string) => parseYamlDocuments(await readFile(manifest(name), 'utf8'));
    // A lease is read after a conflict, and deleted when its peer was gone for long.
    const rare = ['get coordination.k8s.io/leases', 'delete coordination.k8s.io/leases'];
    await assertExactRights(real, home, await rolesIn('rbac.yaml'), rare);
    for (const side of [real, hangar]) await assertExactRights(side, member, await rolesIn('rbac-of-clusters.yaml'));
  });
}

/** Returns the kubeconfig of a server that accepts connections and never answers. */
async function hungKubeconfig(opened: AsyncDisposableStack): Promise<string> {
  const server = createServer((socket) => void socket.on('error', () => {}));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  server.unref();
  opened.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return JSON.stringify({
    clusters: [{ name: 'hung', cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [{ name: 'hung', user: { token: 'hung' } }],
    contexts: [{ name: 'hung', context: { cluster: 'hung', user: 'hung' } }],
    'current-context': 'hung',
  });
}

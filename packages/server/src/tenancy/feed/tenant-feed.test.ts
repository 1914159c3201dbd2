import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Revision, Store, Watch } from '@hangar/store';
import { openMemoryStore, StoreError } from '@hangar/store';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { backup, restore } from '../backup/testing.ts';
import { add, merge } from '../wildcard/testing.ts';
import type { FedChange } from './contract.ts';
import { FeedRecorder } from './testing.ts';

/** Ignores the initial objects of the management plane. */
const ofTenants = (told: readonly string[]): string[] => told.filter((one) => !/ root /.test(one));
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

describe('what is there when a feed begins', () => {
  test('is told with its tenants first, without what all tenants are born with', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await add(server, red, 'a');
    await server.expect(201, 'POST', `${red}/api/v1/nodes`, {
      body: { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } },
    });
    await server.make('blue');
    await using recorder = await FeedRecorder.open(server);
    assert.deepEqual(ofTenants(recorder.news()), [
      'cluster blue',
      'cluster red',
      'initial put red configmaps default/a',
      'initial put red nodes /n',
      'synced',
    ]);
    assert.ok(recorder.known.has('root tenants.tenancy.hangar.dev /red'), 'a Tenant is an object, too');
    assert.ok(recorder.known.has('root namespaces /default'), 'the management plane stores all of its own');
  });

  test('is not what was retained of a tenant that is no more, nor what a restore left half-way', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    for (const name of ['a', 'b', 'c']) await add(server, red, name);
    await server.expect(200, 'DELETE', `${tenants}/red`);
    await server.store.commit([
      { type: 'put', key: '/registry/clusters/half/.hangar/importing', value: Buffer.from('{}') },
      { type: 'put', key: '/registry/clusters/half/configmaps/default/x', value: Buffer.from('{}') },
    ]);
    await add(server, await server.make('zoe'), 'z');
    await using recorder = await FeedRecorder.open(server);
    assert.deepEqual(ofTenants(recorder.news()), ['cluster zoe', 'initial put zoe configmaps default/z', 'synced']);
  });

  test('is followed by what tenants had deleted of the base, as if it went now', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await server.expect(200, 'DELETE', `${red}${roles}/view`);
    await server.expect(200, 'DELETE', `${red}${roles}/edit`);
    await server.expect(201, 'POST', `${red}${roles}`, {
      body: { kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'edit' } },
    });
    await using recorder = await FeedRecorder.open(server, ({ resource }) => resource === 'clusterroles');
    const deleted = /^delete red clusterroles\S* \/view$/;
    await recorder.until(() => recorder.told.some((one) => deleted.test(one)));
    const told = ofTenants(recorder.news());
    assert.equal(told.at(-2), 'synced');
    assert.match(told.at(-1)!, deleted);
    assert.ok(told.some((one) => /^initial put red clusterroles\S* \/edit$/.test(one)));
  });

  test('can be more than fits a page', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await Promise.all(Array.from({ length: 620 }, (_, at) => add(server, red, `m${at}`)));
    await using recorder = await FeedRecorder.open(server, ({ resource }) => resource === 'configmaps');
    assert.equal([...recorder.known.keys()].filter((id) => id.startsWith('red ')).length, 620);
  });
});

describe('what happens afterwards', () => {
  test('is told in order, with what an object is, or was last', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await using recorder = await FeedRecorder.open(server);
    recorder.news();
    const made = await add(server, red, 'a');
    const changed = await merge(server, `${red}/api/v1/namespaces/default/configmaps/a`, { data: { k: 'v' } });
    await server.expect(200, 'DELETE', `${red}/api/v1/namespaces/default/configmaps/a`);
    const end = await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), [
      'put red configmaps default/a',
      'put red configmaps default/a',
      'delete red configmaps default/a',
    ]);
    const [first, second, last] = recorder.changes.filter(({ cluster }) => cluster === 'red') as [
      FedChange,
      FedChange,
      FedChange,
    ];
    assert.deepEqual(first.object(), made);
    assert.deepEqual(second.object(), changed);
    assert.ok(!Buffer.from(second.bytes).includes('resourceVersion'));
    const { resourceVersion, ...was } = changed.metadata;
    const { resourceVersion: deletedAt, ...is } = last.object().metadata;
    assert.deepEqual(is, was);
    assert.ok(Number(deletedAt) > Number(resourceVersion) && Number(deletedAt) < end);
    assert.equal(last.object(), last.object(), 'parsed once');
  });

  test('of what nobody wants nothing is told', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await using recorder = await FeedRecorder.open(
      server,
      ({ resource, group }) => resource === 'configmaps' || group === 'example.com',
    );
    recorder.news();
    await server.expect(201, 'POST', `${red}/api/v1/nodes`, {
      body: { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } },
    });
    await server.expect(200, 'DELETE', `${red}${roles}/view`);
    await add(server, red, 'a');
    await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), ['put red configmaps default/a']);
  });

  test('an object of the base is told when it is changed, and its deletion with what it was', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await using recorder = await FeedRecorder.open(server);
    recorder.news();
    const node = await server.expect(200, 'GET', `${red}${roles}/system:node`);
    const discovery = await merge(server, `${red}${roles}/system:discovery`, { metadata: { labels: { mine: 'yes' } } });
    await server.expect(200, 'DELETE', `${red}${roles}/system:node`);
    await server.expect(200, 'DELETE', `${red}${roles}/system:discovery`);
    await server.expect(200, 'DELETE', `${red}/api/v1/namespaces/kube-public/configmaps/cluster-info`);
    await recorder.caughtUp(server);
    const resource = 'clusterroles.rbac.authorization.k8s.io';
    assert.deepEqual(recorder.news(), [
      `put red ${resource} /system:discovery`,
      `delete red ${resource} /system:node`,
      `delete red ${resource} /system:discovery`,
      'delete red configmaps kube-public/cluster-info',
    ]);
    const deleted = recorder.changes.filter(({ type, cluster }) => type === 'delete' && cluster === 'red');
    assert.deepEqual(
      deleted.slice(0, 2).map((one) => one.object().metadata.uid),
      [node.metadata.uid, discovery.metadata.uid],
    );
    assert.match(Buffer.from(deleted[2]!.bytes).toString(), /"kubeconfig"/);
  });
});

describe('the life of tenants', () => {
  test('a new one, its changes and its end are told; of what goes with it, nothing', async () => {
    await using server = await TenancyServer.open();
    await using recorder = await FeedRecorder.open(server);
    recorder.news();
    const red = await server.make('red', { deletionPolicy: 'Destroy' });
    await Promise.all(Array.from({ length: 50 }, (_, at) => add(server, red, `m${at}`)));
    await recorder.caughtUp(server);
    assert.equal(recorder.feed.has('red'), true);
    const { metadata } = recorder.tenants.get('red')!;
    assert.ok(Number(metadata.resourceVersion) > 0);
    recorder.news();
    await merge(server, `${tenants}/red`, { spec: { suspension: 'ReadOnly' } });
    await server.expect(200, 'DELETE', `${tenants}/red`);
    await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), [
      'cluster red',
      'put root tenants.tenancy.hangar.dev /red',
      'gone red',
      'delete root tenants.tenancy.hangar.dev /red',
    ]);
    assert.deepEqual(
      [...recorder.known.keys()].filter((id) => id.startsWith('red ')),
      [],
    );
    assert.deepEqual([recorder.feed.has('red'), recorder.feed.has('root')], [false, true]);
  });

  test('one that takes over what was retained is told with all of it', async () => {
    await using server = await TenancyServer.open();
    await using recorder = await FeedRecorder.open(server);
    const red = await server.make('red');
    await add(server, red, 'a');
    await server.expect(200, 'DELETE', `${tenants}/red`);
    await recorder.caughtUp(server);
    recorder.news();
    await server.make('red');
    await add(server, red, 'b');
    await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), [
      'cluster red',
      'put root tenants.tenancy.hangar.dev /red',
      'initial put red configmaps default/a',
      'told red',
      'put red configmaps default/b',
    ]);
  });

  test('one that is restored is told with all of it, and not before', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    for (const name of ['a', 'b']) await add(server, red, name);
    await server.expect(200, 'DELETE', `${red}${roles}/view`);
    await using recorder = await FeedRecorder.open(server);
    // The server updates the roles that aggregate `view` some time after its deletion. Until then they are not in a backup.
    const clusterRole = 'clusterroles.rbac.authorization.k8s.io';
    const isUpdated = (name: string) => recorder.told.some((one) => one.endsWith(`put red ${clusterRole} /${name}`));
    await recorder.until(() => isUpdated('admin') && isUpdated('edit'));
    const file = await backup(server, 'red');
    await recorder.caughtUp(server);
    recorder.news();
    assert.equal((await restore(server, 'copy/restore', file)).status, 201);
    await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), [
      'cluster copy',
      'put root tenants.tenancy.hangar.dev /copy',
      `initial put copy ${clusterRole} /admin`,
      `initial put copy ${clusterRole} /edit`,
      'initial put copy configmaps default/a',
      'initial put copy configmaps default/b',
      'told copy',
      `delete copy ${clusterRole} /view`,
    ]);
  });

  test('is told once more to who asks, in order with what changes', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await add(server, red, 'a');
    await using recorder = await FeedRecorder.open(server);
    recorder.news();
    recorder.feed.retell('red');
    recorder.feed.retell('nobody');
    await recorder.until(() => recorder.told.includes('told red'));
    assert.deepEqual(recorder.news(), ['initial put red configmaps default/a', 'told red']);
    await server.expect(200, 'DELETE', `${planePath('red')}/api/v1/namespaces/default/configmaps/a`);
    await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), ['delete red configmaps default/a']);
  });
});

test('what happens is told, however often somebody asks to be told again', async () => {
  await using server = await TenancyServer.open();
  const red = await server.make('red');
  await add(server, red, 'a');
  await using recorder = await FeedRecorder.open(server);
  const { feed } = recorder;
  const inner = recorder.clusterTold.bind(recorder);
  recorder.clusterTold = (cluster) => {
    inner(cluster);
    feed.retell(cluster);
  };
  feed.retell('red');
  await recorder.until(() => recorder.told.filter((one) => one === 'told red').length > 2);
  await add(server, red, 'b');
  await recorder.until(() => recorder.told.includes('put red configmaps default/b'));
});

describe('when history is lost', () => {
  /** Store whose watches the test can break. */
  interface Breakable {
    readonly store: Store;
    /** The watches deliver nothing until they are broken. */
    holdWatches(): void;
    breakWatches(reason: Error): void;
    watches(): number;
  }

  async function breakable(): Promise<Breakable> {
    const store = await openMemoryStore();
    let held: Promise<void> = Promise.resolve();
    let broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    let watches = 0;
    const watch: Store['watch'] = (options) => {
      const source = store.watch(options);
      if (options.prefix !== '/registry/clusters/') return source;
      watches++;
      const { promise } = broken;
      const next: Watch['next'] = () => {
        const unlessHeld = source.next().then(async (result) => {
          await held;
          return result;
        });
        return Promise.race([unlessHeld, promise]);
      };
      return { ...source, next, close: () => source.close(), requestProgress: () => source.requestProgress() } as Watch;
    };
    const proxy = new Proxy(store, {
      get: (target, name) => {
        if (name === 'watch') return watch;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const breakWatches = (reason: Error): void => {
      const before = broken;
      broken = Promise.withResolvers<never>();
      broken.promise.catch(() => undefined);
      held = Promise.resolve();
      before.reject(reason);
    };
    const holdWatches = (): void => {
      held = new Promise(() => {});
    };
    return { store: proxy, holdWatches, breakWatches, watches: () => watches };
  }

  test('it starts again and delivers everything that exists', async () => {
    const { store, holdWatches, breakWatches, watches } = await breakable();
    const problems: Error[] = [];
    await using server = await TenancyServer.open({ store, tenancy: { onError: (error) => problems.push(error) } });
    const red = await server.make('red');
    await add(server, red, 'a');
    await add(server, red, 'b');
    await server.make('blue', { deletionPolicy: 'Destroy' });
    await using recorder = await FeedRecorder.open(server);
    recorder.news();
    holdWatches();
    await server.expect(200, 'DELETE', `${red}/api/v1/namespaces/default/configmaps/a`);
    await server.expect(200, 'DELETE', `${tenants}/blue`);
    breakWatches(new StoreError('Compacted', 'gone'));
    await recorder.until(() => recorder.told.includes('synced'));
    const news = ofTenants(recorder.news());
    assert.deepEqual(news, ['reset', 'cluster red', 'initial put red configmaps default/b', 'synced']);
    assert.equal(watches(), 2, 'one at a time');
    assert.deepEqual(
      problems.map((error) => (error as StoreError).code),
      ['Compacted'],
    );
    await add(server, red, 'c');
    await recorder.caughtUp(server);
    assert.deepEqual(recorder.news(), ['put red configmaps default/c']);
  });

  test('a feed ends with its store', async () => {
    const { store, breakWatches } = await breakable();
    await using server = await TenancyServer.open({ store });
    const recorder = await FeedRecorder.open(server);
    breakWatches(new StoreError('Closed', 'the store is closed'));
    await recorder[Symbol.asyncDispose]();
    assert.equal(recorder.told.at(-1), 'synced');
    assert.equal(recorder.feed.has('red'), false);
  });
});

test('a feed that is stopped while it reads ends, and tells nothing more', async () => {
  await using server = await TenancyServer.open();
  const red = await server.make('red');
  await Promise.all(Array.from({ length: 300 }, (_, at) => add(server, red, `m${at}`)));
  const recorder = new FeedRecorder(server.tenancy.feed());
  await recorder.until(() => recorder.told.length > 10);
  await recorder[Symbol.asyncDispose]();
  const { length } = recorder.told;
  await add(server, red, 'late');
  assert.equal(recorder.told.length, length);
  assert.ok(!recorder.told.some((one) => one.endsWith('default/late')));
});

test('it reads on from a revision, whatever else is written', async () => {
  await using server = await TenancyServer.open();
  const red = await server.make('red');
  const recorder = new FeedRecorder(server.tenancy.feed());
  // While the first scan is running.
  await Promise.all(Array.from({ length: 40 }, (_, at) => add(server, red, `m${at}`)));
  const revision: Revision = await recorder.caughtUp(server);
  assert.ok(revision > 0);
  assert.equal([...recorder.known.keys()].filter((id) => id.startsWith('red configmaps')).length, 40);
  await recorder[Symbol.asyncDispose]();
});

describe('a control plane that a migration holds', () => {
  const held = async (server: TenancyServer, operation: string): Promise<void> =>
    void (await server.expect(201, 'POST', `/apis/tenancy.hangar.dev/v1alpha1/tenants/red/${operation}?id=m`));

  test('leaves the feed without deletions, and comes back with all its objects', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('red'), 'a');
    await using recorder = await FeedRecorder.open(server);
    recorder.news();
    await held(server, 'hold');
    await recorder.until(() => recorder.told.includes('gone red'));
    await held(server, 'release');
    await recorder.until(() => recorder.told.includes('told red'));
    const news = recorder.news().filter((one) => !one.startsWith('put root tenants'));
    assert.deepEqual(news, [
      'cluster red',
      'gone red',
      'cluster red',
      'initial put red configmaps default/a',
      'told red',
    ]);
  });

  test('is not in a feed that starts meanwhile', async () => {
    await using server = await TenancyServer.open();
    await add(server, await server.make('red'), 'a');
    await held(server, 'hold');
    await using recorder = await FeedRecorder.open(server);
    assert.ok(!recorder.tenants.has('red'));
    assert.ok(!recorder.told.some((one) => one.startsWith('initial put red')));
  });
});

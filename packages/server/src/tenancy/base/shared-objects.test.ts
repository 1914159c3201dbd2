import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { KubeObject } from '@hangar/api';
import { breathe, systemClock } from '@hangar/core';
import { layeredStore, openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { Policy } from '../../auth/authorization/rbac/policy.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import { templateOf } from '../../objects/template.ts';
import { Catalogue } from '../../resources/catalogue.ts';
import { openTenantBase } from './base.ts';
import type { TenantBase } from './base.ts';

const createdAt = '2026-05-04T03:02:01Z';
const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' };

let base: TenantBase;
let store: Store;

before(async () => {
  base = await openTenantBase({
    serviceAddress: '10.0.0.1',
    serviceCidr: '10.0.0.0/24',
    endpoint: { address: '127.0.0.1', port: 6443 },
  });
  store = await openMemoryStore();
});
after(() => store.close());

let made = 0;

/** Returns a minimal tenant, sufficient to follow its objects. */
async function tenant(): Promise<ControlPlane> {
  const prefix = `/registry/clusters/tenant-${made++}/`;
  const { revision } = await store.commit([{ type: 'put', key: `${prefix}.hangar/tenant`, value: Buffer.from('x') }]);
  const view = layeredStore({ store, prefix, base: base.layer({ seed: prefix, createdAt }), baseRevision: revision });
  return {
    name: 'tenant',
    prefix,
    store: view,
    clock: systemClock,
    catalogue: new Catalogue(),
  } as unknown as ControlPlane;
}

describe('what is made of base objects', () => {
  test('is made once for all tenants, where it may be shared', async () => {
    const planes = [await tenant(), await tenant(), await tenant()];
    for (const isShared of [true, false]) {
      let calls = 0;
      const make = ({ metadata }: KubeObject) => ({ name: metadata.name, call: calls++ });
      const all: Followed<{ name: string | undefined }>[] = [];
      for (const plane of planes) {
        const followed = new Followed(plane, roles, make, undefined, { isShared });
        await followed.ready();
        all.push(followed);
      }
      const [one, other] = all.map((followed) => followed.all!);
      assert.equal(calls, one!.size * (isShared ? 1 : planes.length));
      assert.deepEqual([...one!.keys()], [...other!.keys()]);
      assert.equal(one!.get('view') === other!.get('view'), isShared);
      assert.equal(one!.get('view')!.name, 'view');
      for (const followed of all) followed.close();
    }
  });

  test('is never what another maker made of them', async () => {
    const plane = await tenant();
    const named = new Followed(plane, roles, ({ metadata }) => metadata.name, undefined, { isShared: true });
    const labelled = new Followed(plane, roles, ({ metadata }) => metadata.labels, undefined, { isShared: true });
    await Promise.all([named.ready(), labelled.ready()]);
    assert.equal(named.all!.get('edit'), 'edit');
    assert.equal(typeof labelled.all!.get('edit'), 'object');
    named.close();
    labelled.close();
  });

  test('is tried again where it failed, and counts as absent until then', async () => {
    let isBroken = true;
    const make = ({ metadata }: KubeObject): string => {
      if (isBroken && metadata.name === 'view') throw new Error('cannot be read');
      return metadata.name!;
    };
    const follow = async () => {
      const followed = new Followed(await tenant(), roles, make, undefined, { isShared: true });
      await followed.ready();
      followed.close();
      return followed.all!;
    };
    assert.equal((await follow()).has('view'), false);
    isBroken = false;
    assert.equal((await follow()).get('view'), 'view');
  });

  test('is the tenant’s own as soon as the object is', async () => {
    const [one, other] = [await tenant(), await tenant()];
    const policies = [new Policy(one), new Policy(other)];
    await Promise.all(policies.map((policy) => policy.ready()));
    const key = `${one.prefix}clusterroles/view`;
    const { entry } = await one.store.get(key);
    const role = JSON.parse(Buffer.from(entry!.value).toString()) as object;
    await one.store.commit([{ type: 'put', key, value: Buffer.from(JSON.stringify({ ...role, rules: [] })) }]);
    await one.store.commit([{ type: 'delete', key: `${one.prefix}clusterroles/edit` }]);
    await policies[0]!.fresh();
    const [changed, unchanged] = policies.map(({ clusterRoles }) => clusterRoles);
    assert.deepEqual(changed!.get('view')!.rules, []);
    assert.equal(changed!.has('edit'), false);
    assert.ok(unchanged!.get('view')!.rules.length > 0);
    assert.ok(unchanged!.has('edit'));
    for (const policy of policies) policy.close();
  });

  test('keeps no value of any tenant', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const values: WeakRef<Uint8Array>[] = [];
    const plane = await tenant();
    const layer = base.layer({ seed: 'another', createdAt });
    const view = layeredStore({
      store,
      prefix: plane.prefix,
      baseRevision: await store.revision(),
      base: {
        size: layer.size,
        has: (key) => layer.has(key),
        valueLength: (key) => layer.valueLength(key),
        keysIn: (range) => layer.keysIn(range),
        value(key) {
          const value = layer.value(key);
          if (value) values.push(new WeakRef(value));
          return value;
        },
      },
    });
    const followed = new Followed({ ...plane, store: view }, roles, ({ metadata }) => metadata.name, undefined, {
      isShared: true,
    });
    await followed.ready();
    assert.ok(values.length > 50);
    for (let round = 0; round < 20 && values.some((one) => one.deref()); round++) {
      await breathe(systemClock);
      collect();
    }
    assert.equal(values.filter((one) => one.deref()).length, 0);
    assert.equal(followed.all!.get('view'), 'view');
    followed.close();
  });
});

test('the template of a value is told while it is the base’s', async () => {
  const [one, other] = [await tenant(), await tenant()];
  const valueOf = async (plane: ControlPlane, key: string) => (await plane.store.get(plane.prefix + key)).entry!.value;
  const value = await valueOf(one, 'namespaces/default');
  assert.ok(templateOf(value));
  assert.equal(templateOf(value), templateOf(await valueOf(other, 'namespaces/default')));
  assert.notEqual(templateOf(value), templateOf(await valueOf(one, 'namespaces/kube-system')));
  await one.store.commit([{ type: 'put', key: `${one.prefix}namespaces/default`, value: value.slice() }]);
  assert.equal(templateOf(await valueOf(one, 'namespaces/default')), undefined);
});

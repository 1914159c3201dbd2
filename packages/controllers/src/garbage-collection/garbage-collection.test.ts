import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { find } from '@hangar/client';
import { ConfigMap, Event, Secret } from '@hangar/client/kinds/core-v1';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { installCrd } from '@hangar/testkit';
import { isGone, map, namespace, open, ownedBy, release, remove, settled } from '../testing/garbage.ts';
import { eventually } from '../testing/run-controllers.ts';
import { widgets, Widget } from '../testing/widgets.ts';

describe('in the background', () => {
  test('dependents of an owner that went go, and theirs; others stay', async () => {
    await using world = await open(['red', 'blue']);
    const { client, fleet } = world;
    const owner = await map(client, 'owner');
    const child = await map(client, 'child', [ownedBy(owner)]);
    await map(client, 'grandchild', [ownedBy(child)]);
    await map(client, 'stranger');
    // The same uid in another control plane is a different object.
    await map(fleet.clientOf('blue'), 'owner');
    await remove(client, 'owner', { propagationPolicy: 'Background' });
    await eventually(() => isGone(client, ConfigMap, 'grandchild'));
    assert.ok(await isGone(client, ConfigMap, 'child'));
    assert.ok(!(await isGone(client, ConfigMap, 'stranger')));
    assert.ok(!(await isGone(fleet.clientOf('blue'), ConfigMap, 'owner')));
  });

  test('one that has another owner left stays, and forgets the one that went', async () => {
    await using world = await open();
    const { client } = world;
    const [one, two] = [await map(client, 'one'), await map(client, 'two')];
    await map(client, 'child', [ownedBy(one), ownedBy(two)]);
    await remove(client, 'one');
    await eventually(async () => {
      const { metadata } = await client.get(ConfigMap, { namespace, name: 'child' });
      assert.deepEqual(
        metadata.ownerReferences?.map(({ name }) => name),
        ['two'],
      );
    });
    await remove(client, 'two');
    await eventually(() => isGone(client, ConfigMap, 'child'));
  });

  test('one that is made for an owner that has gone already goes, too', async () => {
    await using world = await open();
    const { client } = world;
    const owner = await map(client, 'owner');
    await map(client, 'early', [ownedBy(owner)]);
    await remove(client, 'owner');
    await map(client, 'late', [ownedBy(owner)]);
    await eventually(() => isGone(client, ConfigMap, 'late'));
    await eventually(() => isGone(client, ConfigMap, 'early'));
    await map(client, 'later', [ownedBy(owner)]);
    await eventually(() => isGone(client, ConfigMap, 'later'));
  });

  test('an owner of the same name with another uid is another one', async () => {
    await using world = await open();
    const { client } = world;
    const owner = await map(client, 'owner');
    await map(client, 'child', [{ ...ownedBy(owner), uid: '11111111-2222-3333-4444-555555555555' }]);
    await eventually(() => isGone(client, ConfigMap, 'child'));
    const right = await map(client, 'right', [ownedBy(owner)]);
    await settled(world);
    assert.equal((await client.get(ConfigMap, { namespace, name: 'right' })).metadata.uid, right.metadata.uid);
  });

  test('one that was adopted by somebody else in the same moment stays', async () => {
    await using world = await open();
    const { client } = world;
    const [owner, other] = [await map(client, 'owner'), await map(client, 'other')];
    await map(client, 'child', [ownedBy(owner)]);
    await Promise.all([
      remove(client, 'owner'),
      client.patch(
        ConfigMap,
        { namespace, name: 'child' },
        { type: 'merge', body: { metadata: { ownerReferences: [ownedBy(other)] } } },
      ),
    ]).catch(() => undefined);
    await settled(world);
    const child = await find(client, ConfigMap, { namespace, name: 'child' });
    // The first writer wins; the object is never deleted while it has another owner.
    if (child)
      assert.deepEqual(
        child.metadata.ownerReferences?.map(({ name }) => name),
        ['other'],
      );
  });
});

describe('in the foreground', () => {
  test('an owner waits for dependents that block it, and only for those', async () => {
    await using world = await open();
    const { client } = world;
    const owner = await map(client, 'owner');
    await map(client, 'blocking', [ownedBy(owner, { blocks: true })], { finalizers: ['example.com/hold'] });
    await map(client, 'other', [ownedBy(owner)], { finalizers: ['example.com/hold'] });
    await map(client, 'plain', [ownedBy(owner, { blocks: true })]);
    await remove(client, 'owner', { propagationPolicy: 'Foreground' });
    await eventually(() => isGone(client, ConfigMap, 'plain'));
    await eventually(async () => {
      for (const name of ['blocking', 'other']) {
        assert.ok((await client.get(ConfigMap, { namespace, name })).metadata.deletionTimestamp);
      }
    });
    await settled(world);
    assert.ok(!(await isGone(client, ConfigMap, 'owner')));
    await release(client, 'blocking');
    await eventually(() => isGone(client, ConfigMap, 'owner'));
    assert.ok(!(await isGone(client, ConfigMap, 'other')));
  });

  test('an owner that is unblocked goes', async () => {
    await using world = await open();
    const { client } = world;
    const owner = await map(client, 'owner');
    await map(client, 'child', [ownedBy(owner, { blocks: true })], { finalizers: ['example.com/hold'] });
    await remove(client, 'owner', { propagationPolicy: 'Foreground' });
    await settled(world);
    assert.ok(!(await isGone(client, ConfigMap, 'owner')));
    await client.patch(
      ConfigMap,
      { namespace, name: 'child' },
      { type: 'merge', body: { metadata: { ownerReferences: [ownedBy(owner, { blocks: false })] } } },
    );
    await eventually(() => isGone(client, ConfigMap, 'owner'));
  });

  test('a chain goes from its end', async () => {
    await using world = await open();
    const { client } = world;
    const top = await map(client, 'top');
    const middle = await map(client, 'middle', [ownedBy(top, { blocks: true })]);
    await map(client, 'leaf', [ownedBy(middle, { blocks: true })], { finalizers: ['example.com/hold'] });
    await remove(client, 'top', { propagationPolicy: 'Foreground' });
    await eventually(async () =>
      assert.ok((await client.get(ConfigMap, { namespace, name: 'leaf' })).metadata.deletionTimestamp),
    );
    for (const name of ['top', 'middle']) {
      const { metadata } = await client.get(ConfigMap, { namespace, name });
      assert.deepEqual(metadata.finalizers, ['foregroundDeletion'], name);
    }
    await release(client, 'leaf');
    for (const name of ['top', 'middle', 'leaf']) await eventually(() => isGone(client, ConfigMap, name));
  });

  test('a circle goes', async () => {
    await using world = await open();
    const { client } = world;
    const names = ['a', 'b', 'c'];
    const all = [];
    for (const name of names) all.push(await map(client, name));
    for (const [at, name] of names.entries()) {
      const owner = all[(at + 1) % all.length]!;
      const body = { metadata: { ownerReferences: [ownedBy(owner, { blocks: true })] } };
      await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body });
    }
    await remove(client, 'a', { propagationPolicy: 'Foreground' });
    for (const name of names) await eventually(() => isGone(client, ConfigMap, name));
  });

  test('a dependent with another owner stays, and forgets the one that goes', async () => {
    await using world = await open();
    const { client } = world;
    const [one, two] = [await map(client, 'one'), await map(client, 'two')];
    await map(client, 'child', [ownedBy(one, { blocks: true }), ownedBy(two, { blocks: true })]);
    await remove(client, 'one', { propagationPolicy: 'Foreground' });
    await eventually(() => isGone(client, ConfigMap, 'one'));
    const { metadata } = await client.get(ConfigMap, { namespace, name: 'child' });
    assert.deepEqual(
      metadata.ownerReferences?.map(({ name }) => name),
      ['two'],
    );
  });
});

describe('as orphans', () => {
  test('dependents stay, and forget their owner', async () => {
    await using world = await open();
    const { client } = world;
    const [owner, other] = [await map(client, 'owner'), await map(client, 'other')];
    await map(client, 'child', [ownedBy(owner, { blocks: true })]);
    await map(client, 'shared', [ownedBy(owner), ownedBy(other)]);
    await remove(client, 'owner', { propagationPolicy: 'Orphan' });
    await eventually(() => isGone(client, ConfigMap, 'owner'));
    await settled(world);
    assert.deepEqual((await client.get(ConfigMap, { namespace, name: 'child' })).metadata.ownerReferences ?? [], []);
    const { metadata } = await client.get(ConfigMap, { namespace, name: 'shared' });
    assert.deepEqual(
      metadata.ownerReferences?.map(({ name }) => name),
      ['other'],
    );
  });
});

describe('across kinds and namespaces', () => {
  test('what is in no namespace owns what is in one', async () => {
    await using world = await open();
    const { client } = world;
    const role = await client.create(ClusterRole, { metadata: { name: 'owner' } });
    await map(client, 'child', [ownedBy(role)]);
    await client.create(Secret, {
      metadata: { namespace: 'kube-system', name: 'child', ownerReferences: [ownedBy(role)] },
    });
    await client.delete(ClusterRole, { name: 'owner' });
    await eventually(() => isGone(client, ConfigMap, 'child'));
    await eventually(() => isGone(client, Secret, 'child', 'kube-system'));
  });

  test('an owner in another namespace is none, which an event says', async () => {
    await using world = await open();
    const { client } = world;
    const owner = await client.create(ConfigMap, { metadata: { namespace: 'kube-system', name: 'owner' } });
    const child = await map(client, 'child', [ownedBy(owner)]);
    await eventually(() => isGone(client, ConfigMap, 'child'));
    assert.ok(!(await isGone(client, ConfigMap, 'owner', 'kube-system')));
    const { items } = await client.list(Event, { namespace });
    const told = items.find(({ reason }) => reason === 'OwnerRefInvalidNamespace');
    assert.equal(told?.involvedObject.uid, child.metadata.uid);
    assert.equal(
      told?.message,
      `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
    );
    // A correct reference beside the wrong one is handled separately.
    await client.create(ConfigMap, {
      metadata: { namespace: 'kube-system', name: 'right', ownerReferences: [ownedBy(owner)] },
    });
    await map(client, 'wrong', [ownedBy(owner)]);
    await eventually(() => isGone(client, ConfigMap, 'wrong'));
    await settled(world);
    assert.ok(!(await isGone(client, ConfigMap, 'right', 'kube-system')));
  });

  test('what is in no namespace is never collected for an owner in one, not even when that goes', async () => {
    await using world = await open();
    const { client } = world;
    const owner = await map(client, 'owner');
    await client.create(ClusterRole, { metadata: { name: 'child', ownerReferences: [ownedBy(owner)] } });
    await settled(world);
    await remove(client, 'owner');
    await settled(world);
    assert.ok(!(await isGone(client, ClusterRole, 'child')));
  });

  test('custom resources own and are owned', async () => {
    await using world = await open();
    const { client } = world;
    await installCrd(client, widgets);
    const top = await client.create(Widget, { metadata: { namespace, name: 'top' } });
    const middle = await map(client, 'middle', [ownedBy(top)]);
    await client.create(Widget, { metadata: { namespace, name: 'leaf', ownerReferences: [ownedBy(middle)] } });
    await settled(world);
    await client.delete(Widget, { namespace, name: 'top' });
    await eventually(() => isGone(client, Widget, 'leaf'));
    assert.ok(await isGone(client, ConfigMap, 'middle'));
  });

  test('an owner of a kind that is not served keeps its dependents, until it is known', async () => {
    await using world = await open();
    const { client } = world;
    const owner = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'not-known' };
    await map(client, 'child', [owner]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(!(await isGone(client, ConfigMap, 'child')));
    await installCrd(client, widgets);
    await eventually(() => isGone(client, ConfigMap, 'child'), { withinMs: 20_000 });
  });

  test('an object of the base that is deleted takes its dependents with it', async () => {
    await using world = await open();
    const { client } = world;
    const role = await client.get(ClusterRole, { name: 'system:node' });
    await map(client, 'child', [ownedBy(role)]);
    await settled(world);
    assert.ok(!(await isGone(client, ConfigMap, 'child')));
    await client.delete(ClusterRole, { name: 'system:node' });
    await eventually(() => isGone(client, ConfigMap, 'child'));
  });
});

test('that a version of the owner is not served any more does not mean that the owner has gone', async () => {
  await using world = await open();
  const { client } = world;
  const [v1] = widgets.spec.versions;
  const old = { ...v1!, name: 'v1alpha1', storage: false };
  await installCrd(client, { ...widgets, spec: { ...widgets.spec, versions: [v1!, old] } });
  const owner = await client.create(Widget, { metadata: { namespace, name: 'owner' } });
  const reference = { ...ownedBy(owner), apiVersion: 'example.com/v1alpha1', kind: 'Widget' };
  // It is looked up, and discovery is cached from then on.
  await map(client, 'first', [{ ...reference, uid: 'another' }]);
  await eventually(() => isGone(client, ConfigMap, 'first'));
  const versions = [v1, { ...old, served: false }];
  await client.patch(
    CustomResourceDefinition,
    { name: widgets.metadata.name },
    { type: 'merge', body: { spec: { versions } } },
  );
  await eventually(async () => {
    const answer = await client.raw({ method: 'GET', target: '/apis/example.com/v1alpha1/widgets' });
    assert.equal(answer.status, 404);
  });
  await map(client, 'child', [reference]);
  // Another owner that is collected afterwards: by then the child was processed.
  const other = await map(client, 'other');
  await map(client, 'of-other', [ownedBy(other)]);
  await remove(client, 'other');
  await eventually(() => isGone(client, ConfigMap, 'of-other'));
  assert.ok(!(await isGone(client, ConfigMap, 'child')));
});

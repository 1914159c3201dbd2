import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { installCrd } from '@hangar/testkit';
import { HostedControlPlane, Namespace, Secret } from '../kinds.ts';
import { openTestWorld } from '../testing/test-session.ts';

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'hostedcontrolplanes.controlplane.cluster.x-k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  },
  spec: {
    group: 'controlplane.cluster.x-k8s.io',
    scope: 'Namespaced',
    names: {
      kind: 'HostedControlPlane',
      plural: 'hostedcontrolplanes',
      singular: 'hostedcontrolplane',
      listKind: 'HostedControlPlaneList',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything } } },
      },
    ],
  },
};

const namespace = 'kplane-cp-big';
const record = { namespace: 'kplane-system', name: 'retained-big' };

/** As the operator leaves it. */
async function retain(client: Client): Promise<void> {
  await installCrd(client, definition);
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(Namespace, { metadata: { name: 'kplane-system' } });
  await client.create(Secret, { metadata: record });
  const labels = { 'controlplane.kplane.dev/name': 'big' };
  const annotations = { 'controlplane.kplane.dev/retained-since': new Date().toISOString() };
  await client.create(HostedControlPlane, { metadata: { namespace, name: 'big', labels, annotations }, spec: {} });
  // In use.
  const owner = { apiVersion: 'controlplane.kplane.dev/v1alpha1', kind: 'ControlPlane', name: 'other', uid: 'u' };
  const metadata = { namespace, name: 'other', labels, annotations, ownerReferences: [owner] };
  await client.create(HostedControlPlane, { metadata, spec: {} });
}

describe('retained data of dedicated control planes', () => {
  test('is listed by get --retained', async () => {
    await using world = await openTestWorld();
    await retain(world.client);
    const { out, err } = await world.run('get', '--retained');
    assert.match(out, /^PATH +MODE +OBJECTS +SIZE +MATERIALISED +AGE\nbig +Dedicated +- +- +- +\d+s\n$/, err);
    const name = 'hostedcontrolplane.controlplane.cluster.x-k8s.io/big\n';
    assert.equal((await world.run('get', '--retained', 'big', '-o', 'name')).out, name);
    assert.match((await world.run('get', '--retained', 'other')).err, /no data is retained at path "other"/);
  });

  test('is destroyed by purge, with its namespace and its record', async () => {
    await using world = await openTestWorld();
    const { client } = world;
    await retain(client);
    assert.match((await world.run('purge', 'big')).err, /no terminal for the confirmation/);
    await client.get(Namespace, { name: namespace });
    // Without controllers, the test deletes the content of the namespace.
    const purging = world.run('purge', 'big', '--yes');
    for await (const event of client.watch(Namespace, { fieldSelector: `metadata.name=${namespace}` })) {
      if (event.type === 'DELETED') break;
      if (event.type === 'BOOKMARK' || event.object.metadata.deletionTimestamp === undefined) continue;
      await client.subresource('finalize').update(Namespace, { ...event.object, spec: { finalizers: [] } } as never);
    }
    const { code, out, err } = await purging;
    assert.deepEqual([code, out], [0, 'data of dedicated control plane big destroyed\n'], err);
    assert.equal(await find(client, Secret, record), undefined);
  });

  test('is not destroyed while a control plane uses it again', async () => {
    await using world = await openTestWorld();
    const { client } = world;
    await retain(client);
    const owner = { apiVersion: 'controlplane.kplane.dev/v1alpha1', kind: 'ControlPlane', name: 'big', uid: 'u' };
    const body = { metadata: { ownerReferences: [owner] } };
    await client.patch(Namespace, { name: namespace }, { type: 'merge', body });
    const { code, err } = await world.run('purge', 'big', '--yes');
    assert.equal(code, 1);
    assert.match(err, /was not destroyed: a control plane uses it again/);
    assert.equal((await client.get(Namespace, { name: namespace })).metadata.deletionTimestamp, undefined);
    await client.get(Secret, record);
  });
});

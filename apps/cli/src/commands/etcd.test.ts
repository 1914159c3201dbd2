import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { annotations, definitions, HostedControlPlane } from '@hangar/hosted-operator';
import { installCrd } from '@hangar/testkit';
import { survivorOf } from '../hosted/survivor.ts';
import { openTestWorld } from '../testing/test-session.ts';

const key = { namespace: 'default', name: 'demo' };
const responds = (ordinal: number, revision: number) => ({
  name: `demo-etcd-${ordinal}`,
  role: 'Unknown' as const,
  healthy: false,
  revision,
});
const silent = (ordinal: number) => ({ name: `demo-etcd-${ordinal}`, role: 'Unknown' as const, healthy: false });

async function openWorld(reason: string, members: readonly object[]) {
  const world = await openTestWorld();
  for (const definition of definitions) await installCrd(world.client, definition);
  await world.client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1 } });
  const condition = {
    type: 'EtcdClusterReady',
    status: 'False',
    reason,
    message: 'text',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const body = { status: { conditions: [condition], etcdMembers: members } };
  await world.client.status.patch(HostedControlPlane, key, { type: 'merge', body });
  return world;
}

const requestOf = async (client: Client): Promise<string | undefined> =>
  (await client.get(HostedControlPlane, key)).metadata.annotations?.[annotations.recoverEtcd];

/** Removes the request when it appears, as the operator does after the recovery. */
async function complete(client: Client): Promise<string> {
  for await (const event of client.watch(HostedControlPlane, {
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  })) {
    const request =
      event.type === 'BOOKMARK' ? undefined : event.object.metadata.annotations?.[annotations.recoverEtcd];
    if (request === undefined) continue;
    const body = { metadata: { annotations: { [annotations.recoverEtcd]: null } } };
    await client.patch(HostedControlPlane, key, { type: 'merge', body });
    return request;
  }
  throw new Error('the watch ended');
}

describe('etcd members', () => {
  test('prints the members', async () => {
    await using world = await openWorld('MembersChanging', [
      { name: 'demo-etcd-0', id: 'a0', role: 'Leader', healthy: true, version: '3.6.8', dbSize: '12Mi' },
    ]);
    const { out } = await world.run('etcd', 'members', 'demo');
    assert.deepEqual(out.split('\n')[1]!.split(/ {2,}/), ['demo-etcd-0', 'a0', 'Leader', 'True', '3.6.8', '12Mi']);
  });
});

describe('etcd recover', () => {
  test('changes nothing while there is a quorum', async () => {
    await using world = await openWorld('MembersNotReady', [responds(0, 7)]);
    const { code, err } = await world.run('etcd', 'recover', 'demo', '--confirm', 'demo');
    assert.notEqual(code, 0);
    assert.match(err, /has not lost its quorum: MembersNotReady/);
    assert.equal(await requestOf(world.client), undefined);
  });

  test('requests the recovery from the member with the highest revision, and waits for it', async () => {
    await using world = await openWorld('QuorumLost', [responds(0, 7), silent(1), responds(2, 9)]);
    const [request, { code, out, err }] = await Promise.all([
      complete(world.client),
      world.run('etcd', 'recover', 'demo', '--confirm', 'demo'),
    ]);
    assert.equal(request, 'demo-etcd-2');
    assert.equal(code, 0, err);
    assert.match(out, /recovered from demo-etcd-2/);
    assert.match(err, /REVISION[^]*Writes that it does not have are lost/);
  });

  test('requires the name of the control plane', async () => {
    await using world = await openWorld('QuorumLost', [responds(0, 7)]);
    assert.match((await world.run('etcd', 'recover', 'demo')).err, /add --confirm demo/);
    assert.match((await world.run('etcd', 'recover', 'demo', '--confirm', 'other')).err, /must be "demo"/);
    assert.equal(await requestOf(world.client), undefined);
  });

  test('with a backup, says that its kind is not served', async () => {
    await using world = await openWorld('QuorumLost', [silent(0)]);
    const { err } = await world.run('etcd', 'recover', 'demo', '--backup', 'nightly', '--confirm', 'demo');
    assert.match(err, /does not serve ControlPlaneRestores/);
  });
});

test('a member that does not respond is not a survivor', () => {
  const members = [responds(0, 7), silent(1), responds(2, 9)];
  assert.equal(survivorOf(members, undefined).survivor.name, 'demo-etcd-2');
  assert.equal(survivorOf(members, 'demo-etcd-0').newer?.name, 'demo-etcd-2');
  assert.throws(() => survivorOf(members, 'demo-etcd-1'), /does not respond/);
  assert.throws(() => survivorOf(members, 'demo-etcd-7'), /is not an etcd member/);
  assert.throws(() => survivorOf([silent(0)], undefined), /no etcd member responds/);
});

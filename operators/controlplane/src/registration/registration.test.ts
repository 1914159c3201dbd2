import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { systemClock } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { ControlPlane, ControlPlaneEndpoint, ControlPlaneRegistration, managementNamespace } from '../api/index.ts';
import type { ControlPlaneRegistrationSpec } from '../api/index.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import type { LoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { registrationController } from './controller.ts';
import { FollowedSecrets } from './followed-secrets.ts';
import { addRegistrationIndexes } from './indexes.ts';
import { kubeconfigFacts } from './kubeconfig.ts';
import {
  addressOfPath,
  kubeconfigText,
  publish,
  putOwnSecret,
  putSecret,
  readyControlPlane,
} from './testing/control-plane.ts';

interface World extends LoneOperator {
  readonly followed: () => FollowedSecrets;
}

async function start({ sizeMax }: { readonly sizeMax?: number } = {}): Promise<World> {
  let followed: FollowedSecrets;
  const operator = await startLoneOperator(({ manager, client, log }) => {
    followed = new FollowedSecrets({ client, clock: systemClock, log, ...(sizeMax ? { sizeMax } : {}) });
    addRegistrationIndexes(manager.cluster.cache);
    manager.controller(registrationController({ clock: systemClock, followed }));
  });
  return Object.defineProperty(operator as World, 'followed', { value: () => followed });
}

const register = (client: Client, spec: Partial<ControlPlaneRegistrationSpec> = {}, name = 'a') =>
  client.create(ControlPlaneRegistration, { metadata: { name }, spec: { controlPlaneRef: { name: 'a' }, ...spec } });

const ready = (client: Client, address?: string, name = 'a') =>
  until(
    client,
    ControlPlaneRegistration,
    name,
    (one) => one?.status?.ready === true && (address === undefined || one.status.resolvedEndpoint === address),
  );

const because = (client: Client, reason: string, name = 'a') =>
  until(client, ControlPlaneRegistration, name, (one) => {
    return findCondition(one?.status?.conditions, 'Ready')?.reason === reason;
  });

const change = (client: Client, spec: object, name = 'a') =>
  client.patch(ControlPlaneRegistration, { name }, { type: 'merge', body: { spec } });

const serverIn = async (client: Client, key: { name: string; namespace: string }): Promise<string | undefined> =>
  (await kubeconfigFacts(await client.get(Secret, key))).server;

const ownSecret = { name: 'registration-a-kubeconfig', namespace: managementNamespace('a') };
const address = addressOfPath('hangar.example', 'a');

describe('a registration', () => {
  test('follows everything that it depends on, one after the other, without an edit', async () => {
    await using world = await start();
    const { client } = world;
    await register(client);
    await because(client, 'ControlPlaneNotFound');
    await client.create(ControlPlane, { metadata: { name: 'a' }, spec: {} });
    await because(client, 'EndpointPending');
    await publish(client, 'a', { endpoint: address, hasSecret: false, isReady: false });
    await because(client, 'KubeconfigPending');
    await publish(client, 'a', { endpoint: address, isReady: false });
    await putOwnSecret(client, 'a', address);
    await because(client, 'ControlPlaneNotReady');
    await publish(client, 'a', { endpoint: address });
    const { status, metadata } = (await ready(client))!;
    assert.equal(status!.resolvedEndpoint, address);
    assert.deepEqual(status!.resolvedKubeconfigSecretRef, {
      name: 'controlplane-a-kubeconfig',
      namespace: 'kplane-cp-a',
    });
    assert.equal(status!.observedGeneration, metadata.generation);
    await client.delete(ControlPlane, { name: 'a' });
    const gone = (await because(client, 'ControlPlaneNotFound'))!;
    assert.equal(gone.status!.ready, false);
    assert.equal(gone.status!.resolvedEndpoint, undefined);
    assert.equal(gone.status!.resolvedKubeconfigSecretRef, undefined);
  });

  test('is not ready while the kubeconfig and the control plane say different addresses', async () => {
    await using world = await start();
    const { client } = world;
    await readyControlPlane(client, 'a');
    await register(client);
    await ready(client, address);
    const moved = addressOfPath('elsewhere.example', 'a');
    await putOwnSecret(client, 'a', moved);
    await because(client, 'KubeconfigPending');
    await publish(client, 'a', { endpoint: moved });
    await ready(client, moved);
  });

  test('with an endpoint of its own gets a kubeconfig for it, which follows the credentials and goes with it', async () => {
    await using world = await start();
    const { client } = world;
    await readyControlPlane(client, 'a');
    await register(client, { endpointRef: { name: 'near' } });
    await because(client, 'EndpointPending');
    await client.create(ControlPlaneEndpoint, {
      metadata: { name: 'near' },
      spec: { endpoint: 'https://near.example' },
    });
    const near = addressOfPath('near.example', 'a');
    const { status } = (await ready(client, near))!;
    assert.deepEqual(status!.resolvedKubeconfigSecretRef, ownSecret);
    assert.equal(await serverIn(client, ownSecret), near);
    const renewed = Buffer.from(kubeconfigText(address, 'renewed')).toString('base64');
    const own = { name: 'controlplane-a-kubeconfig', namespace: 'kplane-cp-a' };
    await client.patch(Secret, own, { type: 'merge', body: { data: { kubeconfig: renewed } } });
    await until(client, Secret, ownSecret.name, (secret) =>
      Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64')
        .toString()
        .includes('token-of-renewed'),
    );
    assert.equal(await serverIn(client, ownSecret), near);
    await change(client, { endpointRef: null });
    await ready(client, address);
    await until(client, Secret, ownSecret.name, (secret) => secret === undefined);
  });

  test('publishes that it is not ready before it deletes the kubeconfig that it published', async () => {
    await using world = await start();
    const { client } = world;
    await readyControlPlane(client, 'a');
    await client.create(ControlPlaneEndpoint, {
      metadata: { name: 'near' },
      spec: { endpoint: 'https://near.example' },
    });
    await register(client, { endpointRef: { name: 'near' } });
    await ready(client, addressOfPath('near.example', 'a'));
    const { resourceVersion } = await client.list(Secret, { namespace: ownSecret.namespace });
    const watch = client.watch(Secret, { namespace: ownSecret.namespace, resourceVersion });
    await publish(client, 'a', { endpoint: address, isReady: false });
    const pending = (await because(client, 'ControlPlaneNotReady'))!;
    for await (const event of watch) {
      if (event.type !== 'DELETED' || event.object.metadata.name !== ownSecret.name) continue;
      assert.ok(Number(pending.metadata.resourceVersion) < Number(event.object.metadata.resourceVersion));
      break;
    }
  });

  test('puts right what somebody did to its kubeconfig', async () => {
    await using world = await start();
    const { client } = world;
    await readyControlPlane(client, 'a');
    await client.create(ControlPlaneEndpoint, {
      metadata: { name: 'near' },
      spec: { endpoint: 'https://near.example' },
    });
    await register(client, { endpointRef: { name: 'near' } });
    await ready(client);
    await client.patch(Secret, ownSecret, { type: 'merge', body: { data: { kubeconfig: 'bm9uZQ==' } } });
    const isRight = async () => (await serverIn(client, ownSecret)) === addressOfPath('near.example', 'a');
    await until(client, Secret, ownSecret.name, (secret) => secret?.data?.['kubeconfig'] !== 'bm9uZQ==');
    assert.ok(await isRight());
    await client.delete(Secret, ownSecret);
    await until(client, Secret, ownSecret.name, (secret) => secret !== undefined);
    assert.ok(await isRight());
  });

  test('leaves nothing behind, also when it is deleted while nobody looks', async () => {
    await using world = await start();
    const { client } = world;
    await readyControlPlane(client, 'a');
    await client.create(ControlPlaneEndpoint, {
      metadata: { name: 'near' },
      spec: { endpoint: 'https://near.example' },
    });
    for (const meanwhile of [false, true]) {
      await register(client, { endpointRef: { name: 'near' } });
      await ready(client);
      const remove = async (): Promise<void> => void (await client.delete(ControlPlaneRegistration, { name: 'a' }));
      await (meanwhile ? world.restart(remove) : remove());
      await until(client, Secret, ownSecret.name, (secret) => secret === undefined);
    }
  });

  test("never copies a user's Secret: it says for which address there is none", async () => {
    await using world = await start();
    const { client } = world;
    const mine = { name: 'mine', namespace: 'users' };
    await readyControlPlane(client, 'a');
    await putSecret(client, mine, 'https://other.example');
    await register(client, { kubeconfigSecretRef: mine });
    await because(client, 'KubeconfigPending');
    await putSecret(client, mine, address);
    const { status } = (await ready(client, address))!;
    assert.deepEqual(status!.resolvedKubeconfigSecretRef, mine);
    await client.delete(Secret, mine);
    await because(client, 'KubeconfigPending');
    const { items } = await client.list(Secret, { namespace: managementNamespace('a') });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['controlplane-a-kubeconfig'],
    );
  });

  test("watches a user's Secret by its name, once, and only while somebody names it", async () => {
    await using world = await start();
    const { client } = world;
    const mine = { name: 'mine', namespace: 'users' };
    await readyControlPlane(client, 'a');
    await putSecret(client, mine, address);
    await Promise.all(['a', 'b'].map((name) => register(client, { kubeconfigSecretRef: mine }, name)));
    await Promise.all(['a', 'b'].map((name) => ready(client, address, name)));
    assert.equal(world.followed().size, 1);
    await change(client, { kubeconfigSecretRef: null });
    await until(client, ControlPlaneRegistration, 'a', (one) => {
      return one?.status?.resolvedKubeconfigSecretRef?.namespace === managementNamespace('a');
    });
    assert.equal(world.followed().size, 1);
    await change(client, { kubeconfigSecretRef: null }, 'b');
    await until(client, ControlPlaneRegistration, 'b', (one) => {
      return one?.status?.resolvedKubeconfigSecretRef?.namespace === managementNamespace('a');
    });
    assert.equal(world.followed().size, 0);
  });

  test("with a user's Secret stays ready when the operator starts anew, unless the Secret is another by then", async () => {
    await using world = await start();
    const { client } = world;
    const [mine, lost] = ['mine', 'lost'].map((name) => ({ name, namespace: 'users' }));
    await readyControlPlane(client, 'a');
    for (const secret of [mine!, lost!]) await putSecret(client, secret, address);
    await register(client, { kubeconfigSecretRef: mine! });
    await register(client, { kubeconfigSecretRef: lost! }, 'b');
    await Promise.all(['a', 'b'].map((name) => ready(client, address, name)));
    await world.restart(async () => {
      world.forget();
      await client.delete(Secret, lost!);
    });
    await because(client, 'KubeconfigPending', 'b');
    // The last registration that is reconciled after the start is one whose state changes.
    await register(client, { controlPlaneRef: { name: 'missing' } }, 'c');
    await because(client, 'ControlPlaneNotFound', 'c');
    assert.deepEqual(
      world.writes.filter((one) => /registrations\/a\//.test(one)),
      [],
    );
    // Its other dependencies count at once, whether the Secret is cached or not.
    await world.restart(() => publish(client, 'a', { endpoint: address, isReady: false }));
    await because(client, 'ControlPlaneNotReady');
  });

  test('is hostile: however many Secrets are named, only so many are watched, and who is too late is told', async () => {
    await using world = await start({ sizeMax: 2 });
    const { client } = world;
    const names = ['a', 'b', 'c'];
    await readyControlPlane(client, 'a');
    for (const name of names) await putSecret(client, { name, namespace: 'users' }, address);
    for (const name of names.slice(0, 2)) {
      await register(client, { kubeconfigSecretRef: { name, namespace: 'users' } }, name);
      await ready(client, address, name);
    }
    await register(client, { kubeconfigSecretRef: { name: 'c', namespace: 'users' } }, 'c');
    const late = (await because(client, 'KubeconfigPending', 'c'))!;
    assert.match(findCondition(late.status!.conditions, 'Ready')!.message, /more than 2 Secrets/);
    await register(client, { kubeconfigSecretRef: { name: 'b', namespace: 'users' } }, 'd');
    await ready(client, address, 'd');
    assert.equal(world.followed().size, 2, 'one that is followed already needs no room');
    // It replaces its own Secret, within the limit.
    await change(client, { kubeconfigSecretRef: { name: 'c', namespace: 'users' } });
    await until(client, ControlPlaneRegistration, 'a', (one) => {
      return one?.status?.resolvedKubeconfigSecretRef?.name === 'c';
    });
    await change(client, { mode: 'Dedicated' }, 'c');
    await ready(client, address, 'c');
    assert.equal(world.followed().size, 2);
  });

  test('is hostile: a kubeconfig that names files or programs is of no use', async () => {
    await using world = await start();
    const { client } = world;
    const mine = { name: 'mine', namespace: 'users' };
    await readyControlPlane(client, 'a');
    await putSecret(client, mine, address);
    const text = kubeconfigText(address).replace(
      '"token":"token-of-admin"',
      '"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"}',
    );
    const body = { data: { kubeconfig: Buffer.from(text).toString('base64') } };
    await client.patch(Secret, mine, { type: 'merge', body });
    await register(client, { kubeconfigSecretRef: mine });
    await because(client, 'KubeconfigPending');
  });

  test('has its services in lower case, each once', async () => {
    await using world = await start();
    const { client } = world;
    await register(client, { services: ['Controllers', 'scheduler', 'controllers'] });
    const { spec } = (await until(client, ControlPlaneRegistration, 'a', (one) => one?.spec.services?.length === 2))!;
    assert.deepEqual(spec.services, ['controllers', 'scheduler']);
    await because(client, 'ControlPlaneNotFound');
  });

  test('keeps what services say about themselves', async () => {
    await using world = await start();
    const { client } = world;
    await register(client);
    await because(client, 'ControlPlaneNotFound');
    const { status } = await client.get(ControlPlaneRegistration, { name: 'a' });
    const said = { ...status!.conditions![0]!, type: 'ControllersReady' };
    const body = { status: { conditions: [...status!.conditions!, said] } };
    await client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
    await readyControlPlane(client, 'a');
    const after = (await ready(client))!;
    assert.ok(findCondition(after.status!.conditions, 'ControllersReady'));
  });

  test('writes nothing when nothing changed, also after a restart', async () => {
    await using world = await start();
    const { client } = world;
    await readyControlPlane(client, 'a');
    await client.create(ControlPlaneEndpoint, {
      metadata: { name: 'near' },
      spec: { endpoint: 'https://near.example' },
    });
    await register(client, { endpointRef: { name: 'near' } });
    await register(client, { controlPlaneRef: { name: 'missing' } }, 'b');
    await ready(client);
    await because(client, 'ControlPlaneNotFound', 'b');
    await world.restart(() => Promise.resolve(world.forget()));
    // The last registration that is reconciled after the start is one whose state changes.
    await register(client, { controlPlaneRef: { name: 'missing' } }, 'c');
    await because(client, 'ControlPlaneNotFound', 'c');
    await client.patch(
      ControlPlane,
      { name: 'a' },
      { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } },
    );
    await register(client, { controlPlaneRef: { name: 'missing' } }, 'd');
    await because(client, 'ControlPlaneNotFound', 'd');
    const others = world.writes.filter((one) => !/registrations\/[cd]\/status/.test(one));
    assert.deepEqual(others, []);
  });
});

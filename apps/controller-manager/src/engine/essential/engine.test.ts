/** The engine on a fleet: its changes in clusters, and its reports. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { EssentialControllers } from '@hangar/controllers';
import type { ClusterKeys, FleetFeed } from '@hangar/controllers';
import { systemClock, systemRandom } from '@hangar/core';
import { isWrite, Tenant } from '@hangar/testkit';
import { answerOf, clusterOf, eventually, Ground, serve, silent } from './testing/ground.ts';
import { TestOwnership } from './testing/ownership.ts';

const namespace = 'default';
const isWriteOf = (agent: string) => (one: { agent: string; isWrite: boolean }) => one.isWrite && one.agent === agent;

async function ownerAndDependents(client: Client, name: string, count: number): Promise<void> {
  const owner = await client.create(ConfigMap, { metadata: { namespace, name } });
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: owner.metadata.uid! };
  for (let at = 0; at < count; at++) {
    const metadata = { namespace, name: `${name}-${at}`, ownerReferences: [reference] };
    await client.create(ConfigMap, { metadata });
  }
}

const isCollected = (client: Client, name: string, count: number) => async (): Promise<void> => {
  for (let at = 0; at < count; at++) {
    assert.equal(await find(client, ConfigMap, { namespace, name: `${name}-${at}` }), undefined, `${name}-${at}`);
  }
};

/** The set of controllers as the platform runs it, on the fleet's own feed. */
function runPlatform({ fleet }: Ground): AsyncDisposable {
  const ending = new AbortController();
  const set = new EssentialControllers({
    feed: fleet.feed(),
    clientOf: (cluster) => (cluster === 'root' ? fleet.client : fleet.clientOf(cluster)),
    keysOf: (): Promise<ClusterKeys> => Promise.reject(new Error('no keys in this test')),
    clock: systemClock,
    random: systemRandom,
    log: silent,
  });
  const running = set.run(ending.signal);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}

describe('a cluster whose Tenant is ours', () => {
  test('has the essential controllers, with its own kubeconfig and under the engine’s name', async () => {
    await using ground = await Ground.open(['red', 'blue']);
    const engine = ground.engine('peer-a');
    const served = serve(engine, clusterOf('red'));
    assert.equal(served.said, 'Starting/WaitingForFeed');
    await eventually(() => served.said === 'Starting/WaitingForHandoff');
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    const red = ground.fleet.clientOf('red');
    await red.create(Namespace, { metadata: { name: 'shop' } });
    await eventually(() => red.get(ServiceAccount, { namespace: 'shop', name: 'default' }));
    await ownerAndDependents(red, 'owner', 3);
    await red.delete(ConfigMap, { namespace, name: 'owner' });
    await eventually(isCollected(red, 'owner', 3));
    await red.delete(Namespace, { name: 'shop' });
    await eventually(async () => assert.equal(await find(red, Namespace, { name: 'shop' }), undefined));
    assert.ok(ground.requests.some(isWriteOf('peer-a')));
    assert.deepEqual(new Set(ground.requests.map(({ cluster }) => cluster)), new Set(['red']));
    await served.stop();
    assert.equal(served.said, 'Ready/Serving', 'nothing is told of an end');
  });

  test('is known by the endpoint that asked for it, too, whatever its control plane is called', async () => {
    await using ground = await Ground.open(['tenant-1']);
    const engine = ground.engine('peer-a');
    const source = { kind: 'ControlPlaneEndpoint', name: 'east', uid: 'u' } as const;
    const served = serve(engine, clusterOf('east', { source, secret: { namespace: 'kplane', name: 'tenant-1' } }));
    await ground.handOver('tenant-1', 'endpoint/east');
    await eventually(() => served.said === 'Ready/Serving');
    const client = ground.fleet.clientOf('tenant-1');
    await client.create(Namespace, { metadata: { name: 'shop' } });
    await eventually(() => client.get(ServiceAccount, { namespace: 'shop', name: 'default' }));
  });

  test('waits while the Tenant is suspended, and is looked at anew afterwards', async () => {
    await using ground = await Ground.open(['red']);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    const suspend = (suspension: string | null): Promise<unknown> =>
      ground.fleet.client.patch(Tenant, { name: 'red' }, { type: 'merge', body: { spec: { suspension } } });
    await suspend('ReadOnly');
    await eventually(() => served.said === 'Waiting/Suspended');
    await suspend(null);
    await eventually(() => served.said === 'Ready/Serving');
    await ground.fleet.deleteCluster('red');
    await eventually(() => served.said === 'Starting/WaitingForHandoff');
  });

  test('gets accounts from a Hangar that gives it none', async () => {
    await using ground = await Ground.open(['red'], { hasAccounts: false });
    serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    const red = ground.fleet.clientOf('red');
    await eventually(async () => assert.equal((await red.list(ServiceAccount)).items.length, 4));
  });

  test('a scheduler is not to be had here', async () => {
    await using ground = await Ground.open([]);
    const states: string[] = [];
    const serving = ground.engine('peer-a').serve({
      cluster: clusterOf('red'),
      service: 'scheduler',
      ownership: new TestOwnership(),
      report: ({ phase, reason }) => void states.push(`${phase}/${reason}`),
    });
    assert.deepEqual(states, ['Failed/EngineNotSupported']);
    await serving.stop();
  });
});

describe('a hand-over', () => {
  test('between the platform’s set and ours, back and forth, loses nothing that happens meanwhile', async () => {
    await using ground = await Ground.open(['red']);
    await using _ = runPlatform(ground);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    const red = ground.fleet.clientOf('red');
    for (let round = 0; round < 12; round++) {
      const name = `owner-${round}`;
      await ownerAndDependents(red, name, 3);
      const by = round % 2 === 0 ? 'registration-red' : null;
      const deletion = (): Promise<unknown> => red.delete(ConfigMap, { namespace, name });
      // Before, at the same time, and after.
      const order = [() => ground.handOver('red', by), deletion];
      if (round % 3 === 0) order.reverse();
      await Promise.all(order.map((step) => step()));
      await eventually(isCollected(red, name, 3));
    }
    await served.stop();
  });

  test('between replicas: at no moment do two of them write', async () => {
    await using ground = await Ground.open(['red']);
    const engines = ['peer-a', 'peer-b'].map((name) => ({ name, engine: ground.engine(name) }));
    await ground.handOver('red', 'registration-red');
    const red = ground.fleet.clientOf('red');
    let owner: string | undefined;
    const violations: string[] = [];
    ground.onRequest = ({ agent, isWrite: changes, text }, isAnswered) => {
      if (changes && agent !== owner)
        violations.push(`${agent} ${text} (${isAnswered ? 'end' : 'begin'}), owner ${owner}`);
    };
    const names: string[] = [];
    for (let round = 0; round < 10; round++) {
      const { name: agent, engine } = engines[round % 2]!;
      owner = agent;
      const served = serve(engine, clusterOf('red'));
      await eventually(() => served.said === 'Ready/Serving');
      const name = `owner-${round}`;
      names.push(name);
      await ownerAndDependents(red, name, 8);
      await red.delete(ConfigMap, { namespace, name });
      // In the middle of the work.
      await eventually(() => ground.requests.some(isWriteOf(agent)));
      served.ownership.retire();
      await served.stop();
      owner = undefined;
    }
    owner = 'peer-a';
    const last = serve(engines[0]!.engine, clusterOf('red'));
    for (const name of names) await eventually(isCollected(red, name, 8));
    await last.stop();
    assert.deepEqual(violations, []);
    for (const { name } of engines) assert.ok(ground.requests.some(isWriteOf(name)), name);
  });

  test('waits for a write that is under way, and refuses every other', async () => {
    await using ground = await Ground.open(['red']);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    const hold = ground.faultsOf('red').hang(isWrite);
    const red = ground.fleet.clientOf('red');
    await red.create(Namespace, { metadata: { name: 'shop' } });
    await eventually(() => hold.waiting > 0);
    let isStopped = false;
    const stopping = served.stop().then(() => (isStopped = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(!isStopped);
    const { length } = ground.requests.filter(isWriteOf('peer-a'));
    hold.release();
    await stopping;
    assert.equal(ground.requests.filter(isWriteOf('peer-a')).length, length);
  });

  test('a right that cannot be proven stops writes, and only these; they come when it is', async () => {
    await using ground = await Ground.open(['red']);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    served.ownership.leftMs = 0;
    const red = ground.fleet.clientOf('red');
    const { length } = ground.requests;
    await red.create(Namespace, { metadata: { name: 'shop' } });
    await eventually(() => ground.requests.length > length);
    served.ownership.leftMs = 60_000;
    await eventually(() => red.get(ServiceAccount, { namespace: 'shop', name: 'default' }));
    assert.equal(served.said, 'Ready/Serving');
  });
});

describe('trouble', () => {
  test('a cluster that does not answer is said to, and keeps no other waiting', async () => {
    await using ground = await Ground.open(['red', 'blue']);
    const engine = ground.engine('peer-a');
    const [red, blue] = [serve(engine, clusterOf('red')), serve(engine, clusterOf('blue'))];
    for (const name of ['red', 'blue']) await ground.handOver(name, `registration-${name}`);
    await eventually(() => red.said === 'Ready/Serving' && blue.said === 'Ready/Serving');
    ground.faultsOf('red').failNext(Infinity);
    for (const name of ['red', 'blue']) {
      await ground.fleet.clientOf(name).create(Namespace, { metadata: { name: 'shop' } });
    }
    await eventually(() => ground.fleet.clientOf('blue').get(ServiceAccount, { namespace: 'shop', name: 'default' }));
    await eventually(() => red.said === 'BackingOff/ClusterUnavailable');
    assert.equal(blue.said, 'Ready/Serving');
    ground.faultsOf('red').heal();
    await eventually(
      () => ground.fleet.clientOf('red').get(ServiceAccount, { namespace: 'shop', name: 'default' }),
      20_000,
    );
    await eventually(() => red.said === 'Ready/Serving');
    assert.match(red.states.at(-1)!.lastError ?? '', /by the test/);
  });

  test('a refused kubeconfig is read once more, and what was asked is asked again', async () => {
    await using ground = await Ground.open(['red']);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    const red = ground.fleet.clientOf('red');
    await red.create(Namespace, { metadata: { name: 'one' } });
    await eventually(() => red.get(ServiceAccount, { namespace: 'one', name: 'default' }));
    ground.setToken('red', 'second');
    ground.reads.length = 0;
    await red.create(Namespace, { metadata: { name: 'two' } });
    await eventually(() => red.get(ServiceAccount, { namespace: 'two', name: 'default' }));
    assert.ok(ground.reads.length > 0);
    assert.deepEqual(
      served.states.map(({ reason }) => reason).filter((reason) => reason === 'Unauthorized'),
      [],
    );
  });

  test('a kubeconfig that stays refused is said to be, until there is another', async () => {
    await using ground = await Ground.open(['red']);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    ground.setToken('red', 'second', false);
    const red = ground.fleet.clientOf('red');
    await red.create(Namespace, { metadata: { name: 'shop' } });
    await eventually(() => served.said === 'BackingOff/Unauthorized');
    ground.setToken('red', 'second');
    await eventually(() => red.get(ServiceAccount, { namespace: 'shop', name: 'default' }), 20_000);
    await eventually(() => served.said === 'Ready/Serving');
  });

  test('a kubeconfig for another control plane than its Tenant is not used', async () => {
    await using ground = await Ground.open(['red', 'blue']);
    const engine = ground.engine('peer-a');
    const source = { kind: 'ControlPlaneEndpoint', name: 'red', uid: 'u' } as const;
    const served = serve(engine, clusterOf('red', { source, secret: { namespace: 'kplane', name: 'blue' } }));
    await ground.handOver('red', 'endpoint/red');
    await ground.fleet.clientOf('red').create(Namespace, { metadata: { name: 'shop' } });
    await eventually(() => served.said === 'Failed/AddressInvalid');
    assert.deepEqual(ground.requests, []);
    assert.match(served.states.at(-1)!.message, /is for control plane "blue", but its Tenant is "red"/);
  });

  test('a kubeconfig without rights is said to lack them, until it has them', async () => {
    await using ground = await Ground.open(['red']);
    const served = serve(ground.engine('peer-a'), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    const message = 'configmaps is forbidden: User "red" cannot create resource "configmaps" in API group ""';
    ground.refusal = answerOf(403, message);
    const red = ground.fleet.clientOf('red');
    for (const name of ['one', 'two', 'three']) await red.create(Namespace, { metadata: { name } });
    await eventually(() => served.said === 'BackingOff/Forbidden');
    assert.equal(served.states.at(-1)!.lastError, message);
    ground.refusal = undefined;
    await eventually(() => served.said === 'Ready/Serving', 20_000);
  });

  test('kubeconfigs that name programs, and such as are not there, are not used', async () => {
    await using ground = await Ground.open(['red', 'blue']);
    const engine = ground.engine('peer-a');
    const evil = JSON.parse(ground.kubeconfigs.get('red')!) as { users: { user: object }[] };
    evil.users[0]!.user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/false' } };
    ground.kubeconfigs.set('red', JSON.stringify(evil));
    ground.kubeconfigs.delete('blue');
    const [red, blue] = [serve(engine, clusterOf('red')), serve(engine, clusterOf('blue'))];
    for (const name of ['red', 'blue']) {
      await ground.handOver(name, `registration-${name}`);
      await ground.fleet.clientOf(name).create(Namespace, { metadata: { name: 'shop' } });
    }
    await eventually(() => red.said === 'Failed/KubeconfigInvalid');
    await eventually(() => blue.said === 'Waiting/KubeconfigPending');
    assert.deepEqual(ground.requests, []);
    red.update(clusterOf('red', { secret: { namespace: 'kplane', name: 'renewed' } }));
    ground.setToken('red', 'second');
    ground.kubeconfigs.set('renewed', ground.kubeconfigs.get('red')!);
    await eventually(
      () => ground.fleet.clientOf('red').get(ServiceAccount, { namespace: 'shop', name: 'default' }),
      20_000,
    );
    await eventually(() => red.said === 'Ready/Serving');
  });

  test('a feed that begins anew: what happened meanwhile is done, and nobody hears of it', async () => {
    await using ground = await Ground.open(['red']);
    const feed = breakable(ground.fleet.feed());
    const served = serve(ground.engine('peer-a', feed), clusterOf('red'));
    await ground.handOver('red', 'registration-red');
    await eventually(() => served.said === 'Ready/Serving');
    const red = ground.fleet.clientOf('red');
    const told = served.states.length;
    for (let round = 0; round < 5; round++) {
      await ownerAndDependents(red, `owner-${round}`, 3);
      feed.break();
      await red.delete(ConfigMap, { namespace, name: `owner-${round}` });
      await eventually(isCollected(red, `owner-${round}`, 3));
    }
    assert.equal(served.states.length, told);
    // Returned while the feed was disconnected.
    feed.break();
    await ground.handOver('red', null);
    await eventually(() => served.said === 'Starting/WaitingForHandoff');
  });
});

/** A feed whose stream can be broken; it reconnects at once. */
function breakable(feed: FleetFeed): FleetFeed & { break(): void } {
  let ending = new AbortController();
  return {
    has: (cluster) => feed.has(cluster),
    retell: (cluster) => feed.retell(cluster),
    async follow(listener, signal) {
      for (let round = 0; !signal.aborted; round++) {
        if (round > 0) listener.reset();
        ending = new AbortController();
        await feed.follow(listener, AbortSignal.any([signal, ending.signal]));
      }
    },
    break: () => ending.abort(),
  };
}

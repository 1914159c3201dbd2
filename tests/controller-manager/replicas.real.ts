/**
 * Two replicas of `hangar controller-manager` that share twenty clusters, with the real kube-controller-manager. One is paused, one is
 * killed, one is terminated: every cluster is served again soon, and never by two at a time, as the API server's audit log shows.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@hangar/client';
import { tool } from '../../tools/tool.ts';
import { eventually } from '../examples/testing/eventually.ts';
import { meetings, presentAt, replicaOf } from './testing/audit.ts';
import { Ground } from './testing/ground.ts';
import { grant } from './testing/identity.ts';
import type { Identity } from './testing/identity.ts';
import { ControllerManager } from './testing/manager.ts';
import { rightsFor } from './testing/rights.ts';
import { deploy } from './testing/work.ts';

const clusterCount = 20;
/** Of one of two replicas. */
const clustersMax = 12;
const servedAgainMs = 15_000;
/** Without waiting for a lease. */
const handedOverMs = 10_000;
const stillMs = 12_000;
/** How long a replica keeps its clusters without renewal: its lease. */
const fencedMs = 7_000;
const slackMs = 3_000;

const names = Array.from({ length: clusterCount }, (_, at) => `cluster-${at}`);
const peers = ['a', 'b'] as const;
type Peer = (typeof peers)[number];

const startedMs = performance.now();
const say = (text: string): void => console.log(`  ${((performance.now() - startedMs) / 1000).toFixed(1)} s  ${text}`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

describe('two controller managers that share twenty clusters', () => {
  const opened = new AsyncDisposableStack();
  const clients = new Map<string, Client>();
  const identities = new Map<Peer, Identity>();
  const replicas = new Map<Peer, ControllerManager>();
  /** Moments of rest, and the owner of each cluster then. */
  const rests: { readonly atMs: number; readonly owners: ReadonlyMap<string, Peer> }[] = [];
  let ground: Ground;

  async function start(peer: Peer): Promise<void> {
    const { kubeconfig } = identities.get(peer)!;
    const replica = await ControllerManager.start({
      kubeconfig,
      peer,
      workFolder: join(ground.folder, `work-${peer}`),
      flags: [
        '--engine=kube',
        '--leader-elect',
        `--kube-controller-manager=${await tool('kube-controller-manager')}`,
        `--cluster-port-range=${peer === 'a' ? '21000-21999' : '22000-22999'}`,
      ],
    });
    replicas.set(peer, opened.use(replica));
  }
  before(async () => {
    ground = opened.use(await Ground.start());
    await Promise.all(names.map((name) => ground.up.create(name)));
    for (const name of names) clients.set(name, await ground.up.inside(name));
    const secrets = await Promise.all(names.map((name) => ground.register(name)));
    for (const peer of peers) {
      const identity = await ground.identity(`replica-${peer}`);
      identities.set(peer, identity);
      await grant(ground.client, identity.user, rightsFor({ engine: 'kube', secrets, isShared: true }));
    }
    say('twenty control planes are registered');
    await Promise.all(peers.map(start));
  });
  after(() => opened.disposeAsync());

  test('they share them in halves', async () => {
    await rest('at-first');
    say('all are served');
  });

  test('one that stands still loses its clusters before another has them, and gets its half back', async () => {
    const still = replicas.get('b')!;
    still.signal('SIGSTOP');
    const stoppedMs = performance.now();
    await eventually('nothing of it runs', async () => still.managers().length === 0, fencedMs + slackMs);
    say(`its programs had ended ${seconds(performance.now() - stoppedMs)} after one replica stood still`);
    await servedIn('while-one-stands-still');
    const tookMs = performance.now() - stoppedMs;
    say(`all clusters were served ${seconds(tookMs)} after it stood still`);
    await sleep(Math.max(0, stillMs - tookMs));
    still.signal('SIGCONT');
    await rest('when-it-goes-on');
    assert.ok(tookMs <= servedAgainMs, seconds(tookMs));
  });

  test('when one is killed the other serves all within fifteen seconds', async () => {
    const victim = replicas.get('a')!;
    victim.signal('SIGKILL');
    const killedMs = performance.now();
    await servedIn('after-the-kill');
    const tookMs = performance.now() - killedMs;
    say(`all clusters were served ${seconds(tookMs)} after one replica was killed`);
    assert.deepEqual(victim.others(), []);
    await start('a');
    await rest('when-it-is-back');
    assert.ok(tookMs <= servedAgainMs, seconds(tookMs));
  });

  test('one that is asked to go hands over what it has', async () => {
    const leaving = replicas.get('b')!;
    leaving.signal('SIGTERM');
    const askedMs = performance.now();
    await servedIn('after-it-was-asked-to-go');
    const tookMs = performance.now() - askedMs;
    say(`all clusters were served ${seconds(tookMs)} after one replica was asked to go`);
    assert.equal((await leaving.program.ended()).code, 0, leaving.log.slice(-2_000));
    assert.deepEqual(leaving.others(), []);
    assert.deepEqual(await leaving.folders(), []);
    assert.ok(tookMs <= handedOverMs, seconds(tookMs));
  });

  test('at no moment there were two managers for one cluster, says the audit log', async () => {
    // Everything stops now, so that every request has its end in the log.
    await replicas.get('a')!.end('SIGTERM');
    const requests = await ground.audit.read();
    const ofManagers = requests.filter((one) => replicaOf(one) !== undefined);
    assert.deepEqual(
      meetings(requests).map(({ tenant, of, and }) => [tenant, of, and]),
      [],
    );
    // The log must be complete to prove anything: at every moment of rest it shows exactly the owner of the cluster.
    for (const { atMs, owners } of rests) {
      for (const name of names) assert.deepEqual(presentAt(requests, name, atMs), [owners.get(name)], name);
    }
    assert.deepEqual(new Set(ofManagers.map(({ tenant }) => tenant)), new Set(names));
    assert.deepEqual(
      ofManagers.filter(({ endMs }) => endMs === Infinity),
      [],
    );
    say(`${ofManagers.length} requests of managers in ${clusterCount} clusters`);
    for (const { user } of identities.values()) {
      const refused = requests.filter((one) => one.user === user && (one.code === 403 || one.code === 401));
      assert.deepEqual(refused, []);
    }
  });

  /** A new Deployment in each cluster gets its pod. */
  const servedIn = (label: string): Promise<unknown> =>
    Promise.all(names.map((name) => deploy(clients.get(name)!, 'default', label, 1)));

  /** Every cluster has one replica, none has many more than its half, and all are working. */
  async function rest(label: string): Promise<void> {
    const owners = await eventually('every cluster is ready, and they are balanced', shared, 45_000);
    const counts = peers.map((peer) => [...owners.values()].filter((one) => one === peer).length);
    say(`shared ${counts.join(' : ')}`);
    await servedIn(label);
    assert.deepEqual(await shared(), owners, 'nothing moves any more');
    rests.push({ atMs: Date.now(), owners });
  }

  async function shared(): Promise<ReadonlyMap<string, Peer> | undefined> {
    const owners = new Map<string, Peer>();
    for (const peer of peers) {
      const rows = (await replicas.get(peer)!.clusters()).filter(({ isOwned }) => isOwned);
      if (rows.length > clustersMax) return undefined;
      for (const { name, services } of rows) {
        if (services.controllers?.ready) owners.set(name, peer);
      }
    }
    return owners.size === clusterCount ? owners : undefined;
  }
});

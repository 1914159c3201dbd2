/**
 * `hangar controller-manager` with the real kube-controller-manager and kube-scheduler, for three virtual control planes and a real
 * kube-apiserver; with exactly the permissions of `rbac.ts`.
 *
 *   red       a kubeconfig of a user, which is rotated
 *   green     the operator's kubeconfig; also registered for a scheduler
 *   blue      behind a line that is cut for a minute
 *   outside   a kube-apiserver on etcd
 *
 * While blue is cut off, everything else is done to the others.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { tool } from '../../tools/tool.ts';
import { startReal } from '../conformance/servers/index.ts';
import { readKubeconfig } from '../conformance/servers/control-plane.ts';
import { eventually } from '../examples/testing/eventually.ts';
import { replicaOf } from './testing/audit.ts';
import { Ground } from './testing/ground.ts';
import { grant } from './testing/identity.ts';
import type { Identity } from './testing/identity.ts';
import { Line } from './testing/line.ts';
import { ControllerManager } from './testing/manager.ts';
import { isRunning, processesOf } from './testing/proc.ts';
import type { ManagerProcess } from './testing/proc.ts';
import { rightsFor } from './testing/rights.ts';
import { deleteNamespace, deploy, exercise, schedule } from './testing/work.ts';

const names = ['red', 'green', 'blue', 'outside'] as const;
type Name = (typeof names)[number];
const user = 'controller-manager';
const cutMs = 60_000;

const started = performance.now();
const say = (text: string): void => console.log(`  ${((performance.now() - started) / 1000).toFixed(1)} s  ${text}`);

describe('a controller manager for a fleet', () => {
  const opened = new AsyncDisposableStack();
  const clients = new Map<Name, Client>();
  let ground: Ground;
  let line: Line;
  let identity: Identity;
  let manager: ControllerManager;
  let cutAtMs = 0;

  const inEach = <T>(act: (client: Client, name: Name) => Promise<T>): Promise<T[]> =>
    Promise.all(names.map((name) => act(clients.get(name)!, name)));

  async function start(): Promise<ControllerManager> {
    const [controllers, scheduler] = await Promise.all([tool('kube-controller-manager'), tool('kube-scheduler')]);
    return ControllerManager.start({
      kubeconfig: identity.kubeconfig,
      peer: 'one',
      workFolder: join(ground.folder, 'work'),
      flags: [
        '--engine=kube',
        '--leader-elect=false',
        `--kube-controller-manager=${controllers}`,
        `--kube-scheduler=${scheduler}`,
        // A flag of kube-controller-manager, which is passed through.
        '--node-monitor-grace-period=1h',
      ],
    });
  }

  before(async () => {
    const [started, real] = await Promise.all([
      Ground.start(),
      startReal({ extraArguments: ['--service-account-issuer=https://real.example'] }),
    ]);
    ground = opened.use(started);
    opened.use(real);
    line = opened.use(await Line.open(Number(new URL(ground.up.url).port)));
    await Promise.all(names.map((name) => ground.up.create(name)));
    for (const name of ['red', 'green', 'blue'] as const) clients.set(name, await ground.up.inside(name));
    const realKubeconfig = JSON.stringify(await readKubeconfig(real.kubeconfig));
    const outside = connect(await configOfKubeconfig(realKubeconfig));
    clients.set(
      'outside',
      opened.adopt(outside, (one) => one.close()),
    );

    await Promise.all([ground.endpoint('through-the-line', line.url), ground.endpoint('kube-apiserver', real.url)]);
    const secrets = await Promise.all([
      ground.register('red', ['controllers'], {
        kubeconfigSecretRef: await ground.keep('red', await ground.newKubeconfig('red', 'first')),
      }),
      ground.register('green', ['controllers', 'scheduler']),
      ground.register('blue', ['controllers'], { endpointRef: { name: 'through-the-line' } }),
      ground.register('outside', ['controllers'], {
        endpointRef: { name: 'kube-apiserver' },
        kubeconfigSecretRef: await ground.keep('outside', realKubeconfig),
      }),
    ]);
    identity = await ground.identity(user);
    await grant(ground.client, user, rightsFor({ engine: 'kube', secrets }));
    say('three virtual control planes and a kube-apiserver are registered');
    manager = opened.use(await start());
  });
  after(() => opened.disposeAsync());

  test('Deployments become pods, Jobs get theirs, namespaces end, garbage is collected: in each', async () => {
    await inEach((client) => exercise(client, 'work'));
    await Promise.all([...names.map((name) => ground.served(name)), ground.served('green', 'scheduler')]);
    say('the controllers have done their work in each');
  });

  test('a scheduler binds pods where one is registered', async () => {
    await schedule(clients.get('green')!, 'work');
  });

  test('it tells of each cluster: as a table, as JSON, in its metrics', async () => {
    const rows = await manager.clusters();
    assert.deepEqual(rows.map(({ name }) => name).sort(), [...names].sort());
    assert.ok(rows.every(({ isOwned }) => isOwned));
    for (const { name, services } of rows) {
      const wanted = name === 'green' ? ['controllers', 'scheduler'] : ['controllers'];
      assert.deepEqual(Object.keys(services).sort(), wanted);
      for (const [service, { phase, restarts, pid }] of Object.entries(services)) {
        assert.deepEqual({ name, phase, restarts }, { name, phase: 'Ready', restarts: 0 });
        assert.equal(manager.managers().find((one) => one.pid === pid)?.service, service);
      }
    }
    const { text: plain } = await manager.get('/clusters', 'text/plain');
    for (const name of names) assert.match(plain, new RegExp(`^${name} `, 'm'));
    assert.equal((await manager.get('/healthz')).text, 'ok');
    assert.equal((await manager.get('/readyz?verbose')).status, 200);
    const { text: metrics } = await manager.get('/metrics', 'text/plain');
    for (const name of names) {
      assert.match(metrics, new RegExp(`^workqueue_adds_total\\{[^}]*cluster="${name}"[^}]*\\} `, 'm'), name);
    }
    const families = metrics.match(/^# TYPE workqueue_adds_total /gm);
    assert.equal(families?.length, 1, 'one family, whatever the number of clusters');
  });

  test('a child that is killed comes back by itself, and the others do not notice', async () => {
    line.cut();
    cutAtMs = performance.now();
    say('the line to blue is cut');
    const [victim, others] = await chosen('green');
    process.kill(victim.pid, 'SIGKILL');
    const killedMs = performance.now();
    const next = await replaced(victim);
    say(
      `green has another controller manager ${(performance.now() - killedMs).toFixed(0)} ms after its own was killed`,
    );
    await deploy(clients.get('green')!, 'work', 'after-the-kill', 1);
    assert.ok(isRunning(next));
    for (const one of others) assert.ok(isRunning(one), one.folder);
  });

  test('a new kubeconfig is one restart', async () => {
    const [old, others] = await chosen('red');
    const restarts = await restartsOf('red');
    await ground.keep('red', await ground.newKubeconfig('red', 'second'));
    const next = await replaced(old);
    await deploy(clients.get('red')!, 'work', 'after-the-rotation', 1);
    // The absence of another restart can only be waited for: longer than the debounce.
    await sleep(4_000);
    assert.ok(isRunning(next));
    assert.equal((await restartsOf('red')) - restarts, 1);
    for (const one of others) assert.ok(isRunning(one), one.folder);
    const users = (await ground.audit.read())
      .filter((one) => one.tenant === 'red' && replicaOf(one))
      .map((one) => one.user);
    assert.ok(users.includes('first') && users.at(-1) !== 'first');
    say('red was restarted once, with its new credentials');
  });

  test('what is no longer registered is gone in two seconds, and nothing of it is left', async () => {
    const own = await programsOf('green');
    assert.equal(own.length, 2);
    const others = manager.managers().filter((one) => !own.some(({ pid }) => pid === one.pid));
    const before = await manager.folders();
    await ground.unregister('green');
    const deletedMs = performance.now();
    await eventually('its processes are gone', async () => !own.some(isRunning), 5_000);
    const tookMs = performance.now() - deletedMs;
    say(`controller manager and scheduler of green were gone ${tookMs.toFixed(0)} ms after the answer to DELETE`);
    assert.ok(tookMs <= 2_000, `${tookMs.toFixed(0)} ms`);
    await eventually('its keepers and folders are gone', async () => {
      const kept = own.some(({ folder }) => processesOf(folder).length > 0);
      return !kept && (await manager.folders()).length === before.length - 2;
    });
    assert.equal(await manager.cluster('green'), undefined);
    assert.doesNotMatch((await manager.get('/metrics', 'text/plain')).text, /cluster="green"/);
    for (const one of others) assert.ok(isRunning(one), one.folder);
    // The platform runs the controllers again.
    await deleteNamespace(clients.get('green')!, 'left-to-the-platform');
    await ground.register('green', ['controllers', 'scheduler']);
    await ground.served('green');
    await deploy(clients.get('green')!, 'work', 'registered-again', 1);
    say('green is served again');
  });

  test('an endpoint that is away for a minute is served again by itself', async () => {
    const own = await programsOf('blue');
    const others = manager.managers().filter((one) => !own.some(({ pid }) => pid === one.pid));
    await sleep(Math.max(0, cutAtMs + cutMs - performance.now()));
    for (const one of others) assert.ok(isRunning(one), one.folder);
    const { phase, message, restarts } = (await manager.cluster('blue'))!.services.controllers!;
    say(`blue after a minute: ${phase}: ${message}`);
    assert.deepEqual({ phase, restarts }, { phase: 'Waiting', restarts: 0 });
    line.heal();
    const healedMs = performance.now();
    await deploy(clients.get('blue')!, 'work', 'after-the-cut', 1);
    say(`blue works ${((performance.now() - healedMs) / 1000).toFixed(1)} s after the line was back`);
    await ground.served('blue');
    for (const one of others) assert.ok(isRunning(one), one.folder);
  });

  test('when it is killed its children end within a second, and the next life serves all again', async () => {
    const children = manager.others();
    // Each of the five programs has a keeper.
    assert.ok(children.length >= 10);
    manager.signal('SIGKILL');
    const killedMs = performance.now();
    await eventually('its children are gone', async () => !children.some(isRunning), 5_000);
    const tookMs = performance.now() - killedMs;
    say(`all children had ended ${tookMs.toFixed(0)} ms after their parent was killed`);
    assert.ok(tookMs <= 1_000, `${tookMs.toFixed(0)} ms`);
    manager = opened.use(await start());
    await inEach((client) => deploy(client, 'work', 'after-the-crash', 1));
    assert.equal((await manager.folders()).length, 5);
    say('all are served again');
  });

  test('it ends in good order, and has never asked for what it may not', async () => {
    const { code } = await manager.end('SIGTERM');
    assert.equal(code, 0, manager.log.slice(-2_000));
    assert.deepEqual(manager.others(), []);
    assert.deepEqual(await manager.folders(), []);
    const requests = await ground.audit.read();
    const own = requests.filter((one) => one.user === user);
    assert.ok(own.some(({ verb }) => verb === 'watch') && own.some(({ verb }) => verb === 'patch'));
    assert.deepEqual(
      own.filter(({ code }) => code === 403 || code === 401),
      [],
    );
  });

  /** Returns the controller manager of a cluster, and all other programs except those that are cut off. */
  async function chosen(name: Name): Promise<[ManagerProcess, ManagerProcess[]]> {
    const { pid } = (await manager.cluster(name))!.services.controllers!;
    const all = manager.managers();
    const one = all.find((other) => other.pid === pid)!;
    return [one, all.filter((other) => other !== one)];
  }

  async function programsOf(name: Name): Promise<ManagerProcess[]> {
    const pids = new Set(Object.values((await manager.cluster(name))!.services).map(({ pid }) => pid));
    return manager.managers().filter(({ pid }) => pids.has(pid));
  }

  /** Resolves with the process that replaced it. */
  const replaced = (old: ManagerProcess): Promise<ManagerProcess> =>
    eventually('another process is there', async () =>
      isRunning(old) ? undefined : manager.managers().find(({ folder }) => folder === old.folder),
    );

  async function restartsOf(name: Name): Promise<number> {
    return (await manager.cluster(name))!.services.controllers!.restarts;
  }
});

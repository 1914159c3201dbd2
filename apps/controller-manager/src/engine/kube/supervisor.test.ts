import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endOf, readyIn } from './testing/served.ts';
import { kubeconfigFor, World } from './testing/world.ts';

const server = 'https://a:6443';

describe('on the way up', () => {
  test('waits for a kubeconfig, asks the cluster, starts the program, and is ready when that is well', async () => {
    const world = new World();
    const served = world.serve('a');
    await world.clock.advance(60_000);
    assert.equal(served.phase, 'Waiting/KubeconfigPending');
    assert.match(served.state.message, /Secret "fleet\/a" has no kubeconfig/);
    assert.equal(served.starts, 0);

    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('Ready/Running');
    const program = world.programs.of('a')!;
    assert.deepEqual(served.state.process, { pid: program.pid, port: program.port, startedAt: program.startedAt });
    assert.equal(served.state.restarts, 0);
    assert.equal(program.options.argv0, 'hangar-controller-manager.one');
    assert.equal(program.options.executable, '/bin/kube-controller-manager');
    assert.ok(program.kubeconfig.includes('secret-token'));
    const phases = served.states.map(({ phase, reason }) => `${phase}/${reason}`);
    assert.deepEqual([...new Set(phases)], ['Waiting/KubeconfigPending', 'Starting/Starting', 'Ready/Running']);
    await endOf(world, served);
    assert.equal(served.phase, 'Stopping/Stopping');
  });

  test('a cluster that does not answer is asked less and less often, and costs no program', async () => {
    const world = new World();
    world.answers.set(server, 'refuses');
    const served = world.serve('a');
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('Waiting/Unreachable');
    await world.clock.advance(10 * 60_000);
    assert.equal(served.starts, 0);
    assert.ok(world.asked.length < 100, `${world.asked.length} questions`);
    const before = world.asked.length;
    world.answers.set(server, 'hangs');
    await world.clock.advance(60_000);
    assert.match(served.state.message, /does not answer within 5 s/);
    assert.ok(world.asked.length - before >= 2 && world.asked.length - before <= 12);
    world.answers.set(server, 200);
    await served.until('Ready', 25_000);
    assert.equal(served.state.restarts, 0);
    assert.match(served.state.lastError!, /does not answer/);
    await endOf(world, served);
  });

  for (const [status, reason] of [
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [500, 'NotReady'],
    [404, 'NotReady'],
  ] as const) {
    test(`a cluster that answers ${status} is waited for: ${reason}`, async () => {
      const world = new World();
      world.answers.set(server, status);
      const served = world.serve('a');
      world.secrets.put(served.secret, kubeconfigFor(server));
      await served.until(`Waiting/${reason}`);
      assert.ok(served.state.message.includes(String(status)));
      assert.equal(served.starts, 0);
      await endOf(world, served);
    });
  }

  test('new credentials are tried at once where nothing runs', async () => {
    const world = new World();
    world.answers.set(server, 401);
    const served = world.serve('a');
    world.secrets.put(served.secret, kubeconfigFor(server));
    await world.clock.advance(120_000);
    world.secrets.put(served.secret, kubeconfigFor('https://b:6443'));
    await served.until('Ready', 4_000);
    await endOf(world, served);
  });

  test('a kubeconfig that wants programs run or files read is refused until it changes', async () => {
    const world = new World();
    const served = world.serve('a');
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/evil', interactiveMode: 'Never' };
    const users = [{ exec, token: undefined }, { tokenFile: '/etc/passwd' }, { 'client-certificate': '/etc/shadow' }];
    for (const user of users) {
      world.secrets.put(served.secret, kubeconfigFor(server, 'secret-token', user));
      await served.until('Failed/KubeconfigInvalid');
      await world.clock.advance(60_000);
      assert.equal(served.phase, 'Failed/KubeconfigInvalid');
      assert.ok(!served.state.message.includes('secret-token'));
      world.secrets.put(served.secret, undefined);
      await served.until('Waiting/KubeconfigPending');
    }
    world.secrets.put(served.secret, '{{{ token: secret-token');
    await served.until('Failed/KubeconfigInvalid');
    assert.ok(!served.state.message.includes('secret-token'));
    assert.equal(served.starts, 0);
    assert.equal(world.asked.length, 0);
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('Ready');
    await endOf(world, served);
  });

  test('the address of the fleet counts, unless credentials would go where they should not', async () => {
    const world = new World();
    const served = world.serve('a');
    served.update({ address: 'http://elsewhere' });
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('Failed/AddressInvalid');
    served.update({ address: 'elsewhere:443' });
    await served.until('Ready');
    assert.ok(world.programs.of('a')!.kubeconfig.includes('"https://elsewhere"'));
    assert.ok(world.asked.every((address) => address === 'https://elsewhere/readyz'));
    await endOf(world, served);
  });

  test('a service whose program is not here fails, and says which flag helps', async () => {
    const world = new World({ executables: { controllers: '/bin/kube-controller-manager' } });
    const served = world.serve('a', 'scheduler');
    assert.equal(served.phase, 'Failed/ExecutableNotFound');
    assert.match(served.state.message, /--kube-scheduler=FILE/);
    served.update({ address: 'https://b' });
    await endOf(world, served);
  });

  test('a scheduler with a configuration file of its own would not heed its kubeconfig: refused', async () => {
    const world = new World({ arguments: { controllers: [], scheduler: ['--config=/etc/scheduler.yaml'] } });
    const served = world.serve('a', 'scheduler');
    assert.equal(served.phase, 'Failed/InvalidFlag');
    await endOf(world, served);
  });
});

describe('when the program ends', () => {
  test('it is started again, with longer and longer pauses, that differ', async () => {
    const world = new World();
    world.programs.behaviour.livesMs = 100;
    const served = world.serve('a');
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('BackingOff/Exited');
    assert.match(served.state.message, /^kube-controller-manager exited with code 1; retrying in 1 s/);
    assert.equal(served.state.process, undefined);
    await world.clock.advance(60 * 60_000);
    const starts = world.programs.all.map(({ startedMs }) => startedMs);
    const pauses = starts.slice(1).map((ms, at) => ms - starts[at]!);
    assert.ok(pauses[0]! >= 500 && pauses[0]! < 1_500, `${pauses[0]} ms`);
    assert.ok(pauses[5]! >= 16_000 && pauses[5]! < 34_000, `${pauses[5]} ms`);
    assert.ok(pauses.every((ms) => ms <= 302_000));
    assert.ok(starts.length > 18 && starts.length < 40, `${starts.length} starts in an hour`);
    assert.equal(served.state.restarts, starts.length - 1);
    await endOf(world, served);
  });

  test('ten minutes of good work and the pauses begin anew', async () => {
    const world = new World();
    const served = await readyIn(world);
    for (let at = 0; at < 6; at++) {
      world.programs.of('a')!.exit({ code: 2 });
      await world.clock.settle();
      await served.until('Ready', 120_000);
    }
    await world.clock.advance(11 * 60_000);
    world.programs.of('a')!.exit({ code: 2, lastError: 'out of luck' });
    await served.until('BackingOff');
    assert.match(served.state.message, /out of luck; retrying in 1 s/);
    await served.until('Ready', 5_000);
    assert.equal(served.state.restarts, 7);
    assert.match(served.state.lastError!, /out of luck/);
    await endOf(world, served);
  });

  for (const [cause, reason] of [
    ['memory', 'MemoryLimitExceeded'],
    ['fenced', 'OwnershipLost'],
  ] as const) {
    test(`because of "${cause}", that is said: ${reason}`, async () => {
      const world = new World();
      const served = await readyIn(world);
      world.programs.of('a')!.exit({ cause, signal: 'SIGKILL' });
      await served.until(`BackingOff/${reason}`);
      await served.until('Ready');
      await endOf(world, served);
    });
  }

  test('what cannot be started at all is tried again', async () => {
    const world = new World();
    world.programs.behaviour.refusal = 'no space left on device';
    const served = world.serve('a');
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('BackingOff/StartFailed');
    assert.match(served.state.message, /no space left on device/);
    assert.equal(served.state.restarts, 0);
    world.programs.behaviour.refusal = undefined;
    await served.until('Ready');
    assert.equal(served.state.restarts, 0, 'what never ran was not started again');
    await endOf(world, served);
  });
});

describe('at work', () => {
  test('a cluster that is away three times in a row is waited for, and the program left alone', async () => {
    const world = new World();
    const served = await readyIn(world);
    world.answers.set(server, 'refuses');
    await world.clock.advance(15_000);
    assert.equal(served.phase, 'Ready/Running', 'once is an accident');
    await served.until('Waiting/Unreachable', 25_000);
    assert.ok(served.state.process, 'it goes on');
    await world.clock.advance(10 * 60_000);
    world.answers.set(server, 200);
    await served.until('Ready', 13_000);
    assert.equal(served.starts, 1);
    assert.equal(served.state.restarts, 0);
    await endOf(world, served);
  });

  test('credentials that are no longer known are told from a cluster that is away', async () => {
    const world = new World();
    const served = await readyIn(world);
    world.answers.set(server, 401);
    await served.until('Waiting/Unauthorized');
    assert.equal(served.starts, 1);
    await endOf(world, served);
  });

  test('a program that is not well for a minute is started again', async () => {
    const world = new World();
    const served = await readyIn(world);
    world.programs.of('a')!.status = 500;
    await served.until('Waiting/Unhealthy', 40_000);
    assert.equal(served.starts, 1);
    await served.until('BackingOff/Unhealthy', 60_000);
    await served.until('Ready');
    assert.equal(served.state.restarts, 1);
    await endOf(world, served);
  });

  test('a program that never comes up is started again after a minute', async () => {
    const world = new World();
    world.programs.behaviour.bootMs = Infinity;
    const served = world.serve('a');
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('BackingOff/Unhealthy', 70_000);
    assert.ok(world.clock.monotonicMs() >= 60_000);
    world.programs.behaviour.bootMs = 100;
    await served.until('Ready');
    await endOf(world, served);
  });

  test('is asked about every ten seconds, never together with all others', async () => {
    const world = new World({ startConcurrency: 100 });
    const all = Array.from({ length: 20 }, (_, at) => world.serve(`c${at}`));
    for (const { secret, name } of all) world.secrets.put(secret, kubeconfigFor(`https://${name}:6443`));
    for (const served of all) await served.until('Ready');
    world.asked.length = 0;
    await world.clock.advance(100_000);
    assert.ok(world.asked.length >= 150 && world.asked.length <= 260, `${world.asked.length} questions`);
    await endOf(world, ...all);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { MetricsRegistry, terminalError } from '@hangar/runtime';
import { startTestFleet, Tenant, virtualClock } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { controllersAnnotation } from './runner/roster.ts';
import { Recorder } from './testing/recorder.ts';
import { eventually, runControllers } from './testing/run-controllers.ts';

const add = (fleet: TestFleet, cluster: string, name: string): Promise<unknown> =>
  fleet.clientOf(cluster).create(ConfigMap, { metadata: { namespace: 'default', name } });
const change = (fleet: TestFleet, name: string, body: object): Promise<unknown> =>
  ('status' in body ? fleet.client.status : fleet.client).patch(Tenant, { name }, { type: 'merge', body });
const quarantine = {
  reason: 'EventLoopStalls',
  message: '3 requests blocked the server',
  since: '2026-01-01T00:00:00Z',
  until: '2099-01-01T00:00:00Z',
};
const external = (value: string | null): object => ({ metadata: { annotations: { [controllersAnnotation]: value } } });

describe('control planes that are left alone', () => {
  const ways: Readonly<Record<string, [leave: object, take: object]>> = {
    'those that others serve': [external('External'), external(null)],
    'those that are quarantined': [{ status: { quarantine } }, { status: { quarantine: null } }],
    'those that are suspended': [{ spec: { suspension: 'ReadOnly' } }, { spec: { suspension: null } }],
  };
  for (const [what, [leave, take]] of Object.entries(ways)) {
    test(`${what} are told of no more, and told anew when they are taken up`, async () => {
      await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
      const recorder = new Recorder();
      await using controllers = runControllers(fleet, { controllers: () => [recorder] });
      await controllers.synced;
      await add(fleet, 'red', 'before');
      await eventually(() => recorder.reconciled.includes('red/before'));
      await change(fleet, 'red', leave);
      await eventually(() => recorder.told.includes('gone red'));
      const takesWrites = 'metadata' in leave;
      if (takesWrites) await add(fleet, 'red', 'meanwhile');
      await add(fleet, 'blue', 'neighbour');
      await eventually(() => recorder.reconciled.includes('blue/neighbour'));
      assert.ok(!recorder.told.includes('put red/meanwhile'));
      recorder.told.length = 0;
      await change(fleet, 'red', take);
      await eventually(() => recorder.told.includes('told red'));
      const expected = ['cluster red', 'put red/before', ...(takesWrites ? ['put red/meanwhile'] : []), 'told red'];
      assert.deepEqual(recorder.told, expected);
    });
  }

  test('those that were so from the beginning are not told at all', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await add(fleet, 'red', 'a');
    await change(fleet, 'red', external('External'));
    const recorder = new Recorder();
    await using controllers = runControllers(fleet, { controllers: () => [recorder] });
    await controllers.synced;
    assert.deepEqual(
      recorder.told.filter((one) => one.includes('red/')),
      [],
    );
    await change(fleet, 'red', external('Essential'));
    await eventually(() => recorder.told.includes('told red'));
    assert.ok(recorder.told.includes('put red/a'));
  });
});

describe('work', () => {
  test('of a control plane that goes is dropped: what is queued, what waits, what is under way', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    const recorder = new Recorder();
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    recorder.work = (request, { signal }) =>
      new Promise((resolve, reject) => {
        if (request.cluster !== 'red') return resolve();
        begun.resolve();
        signal.addEventListener('abort', () => {
          aborted.resolve();
          reject(new Error('aborted'));
        });
      });
    await using controllers = runControllers(fleet, { controllers: () => [recorder] });
    for (let at = 0; at < 10; at++) await add(fleet, 'red', `m${at}`);
    await begun.promise;
    await fleet.deleteCluster('red');
    await aborted.promise;
    await eventually(() => controllers.set.length === 0);
    assert.equal(recorder.reconciled.filter((one) => one.startsWith('red/')).length, 2, 'half of the workers, once');
    await add(fleet, 'blue', 'a');
    await eventually(() => recorder.reconciled.includes('blue/a'));
  });

  test('that fails is tried again with back-off, unless it says that this does not help', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const registry = new MetricsRegistry();
    const recorder = new Recorder();
    let failures = 0;
    recorder.work = ({ name }) => {
      if (name === 'terminal') return Promise.reject(terminalError('never'));
      return ++failures <= 3 ? Promise.reject(new Error('not yet')) : Promise.resolve();
    };
    await using controllers = runControllers(fleet, { controllers: () => [recorder], registry });
    await add(fleet, 'red', 'again');
    await add(fleet, 'red', 'terminal');
    await eventually(() => failures === 4 && controllers.set.length === 0);
    assert.equal(recorder.reconciled.filter((one) => one === 'red/terminal').length, 1);
    const text = registry.text();
    for (const line of [
      'controller_runtime_reconcile_errors_total{controller="recorder"} 4',
      'controller_runtime_terminal_reconcile_errors_total{controller="recorder"} 1',
      'controller_runtime_reconcile_total{controller="recorder",result="success"} 1',
      'workqueue_retries_total{name="recorder",controller="recorder"} 3',
    ]) {
      assert.ok(text.includes(line), `${line} in ${text}`);
    }
  });

  test('of one control plane keeps no other waiting', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    const recorder = new Recorder();
    recorder.work = ({ cluster }) => (cluster === 'red' ? new Promise(() => undefined) : Promise.resolve());
    const controllers = runControllers(fleet, { controllers: () => [recorder] });
    for (let at = 0; at < 10; at++) await add(fleet, 'red', `m${at}`);
    await add(fleet, 'blue', 'a');
    await eventually(() => recorder.reconciled.includes('blue/a'));
    // They never return: the next test checks that a stop does not wait for them forever.
    void controllers.stop();
  });

  test('that does not end is aborted after a minute, and given up after a few seconds more', async () => {
    const clock = virtualClock();
    await using fleet = await startTestFleet({ clusters: ['red'], clock });
    const recorder = new Recorder();
    const signals: AbortSignal[] = [];
    recorder.work = (_request, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const controllers = runControllers(fleet, { controllers: () => [recorder], clock });
    await clock.run(Promise.all(['a', 'b', 'c'].map((name) => add(fleet, 'red', name))));
    await clock.until(() => signals.length === 2);
    await clock.advance(59_000);
    assert.ok(signals.every(({ aborted }) => !aborted));
    await clock.advance(2_000);
    assert.ok(signals.slice(0, 2).every(({ aborted }) => aborted));
    const stopped = controllers.stop();
    await clock.advance(6_000);
    await stopped;
  });

  test('under way is waited for when it stops, and nothing is begun any more', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const recorder = new Recorder();
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    let isDone = false;
    recorder.work = async () => {
      begun.resolve();
      await release.promise;
      isDone = true;
    };
    const controllers = runControllers(fleet, { controllers: () => [recorder] });
    for (const name of ['a', 'b', 'c', 'd']) await add(fleet, 'red', name);
    await begun.promise;
    const stopping = controllers.stop();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(!isDone);
    release.resolve();
    await stopping;
    assert.ok(isDone);
    assert.equal(recorder.reconciled.length, 2);
  });

  test('a controller that throws when it is told something harms nobody', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const [bad, good] = [new Recorder(), new Recorder()];
    bad.changed = () => {
      throw new Error('a defect');
    };
    await using controllers = runControllers(fleet, { controllers: () => [bad, good] });
    await controllers.synced;
    await add(fleet, 'red', 'a');
    await eventually(() => good.reconciled.includes('red/a'));
  });
});

test('what happens after the beginning goes before what was there', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
  for (let at = 0; at < 20; at++) await add(fleet, 'red', `old${at}`);
  const recorder = new Recorder();
  recorder.work = () => new Promise((resolve) => setTimeout(resolve, 5));
  await using controllers = runControllers(fleet, { controllers: () => [recorder] });
  await controllers.synced;
  await add(fleet, 'blue', 'new');
  await eventually(() => recorder.reconciled.length === 21);
  assert.ok(recorder.reconciled.indexOf('blue/new') < 15, String(recorder.reconciled.indexOf('blue/new')));
});

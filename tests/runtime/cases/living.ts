/** Processes: which of several works, and how they end. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Case } from '../testing/case.ts';
import type { Ground } from '../testing/ground.ts';
import { Operator } from '../testing/operator.ts';
import { until } from '../testing/until.ts';
import { Widget } from '../testing/widgets.ts';

const timings = { leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 500 };

interface Candidate {
  readonly operator: Operator;
  readonly reconciled: string[];
}

function candidate({ config }: Ground, namespace: string, identity: string): Candidate {
  const reconciled: string[] = [];
  const operator = new Operator(config, {
    leaderElection: { namespace, name: 'election', identity, ...timings },
    cache: { defaults: { namespace } },
    setUp: (manager) =>
      void manager.controller({
        name: 'widget',
        for: Widget,
        reconcile: ({ name }) => void reconciled.push(name),
      }),
  });
  operator.start();
  return { operator, reconciled };
}

export const living: readonly Case[] = [
  {
    name: 'of two managers one leads; when it ends in good order the other one goes on at once, from what is there',
    async run(ground) {
      const { admin } = ground;
      const namespace = await ground.namespace();
      const holder = async (): Promise<string | undefined> =>
        (await admin.get(Lease, { namespace, name: 'election' })).spec?.holderIdentity;
      await using running = new AsyncDisposableStack();
      const first = candidate(ground, namespace, 'first');
      running.use(first.operator);
      await first.operator.manager.elected;
      const second = candidate(ground, namespace, 'second');
      running.use(second.operator);
      await admin.create(Widget, { metadata: { namespace, name: 'a' }, spec: { size: 0 } });
      await until('the first has seen it', () => first.reconciled.includes('a'));
      assert.equal(await holder(), 'first');
      assert.match(await ground.kubectl('get', 'lease', 'election', `-n=${namespace}`), /first/);
      assert.deepEqual([second.operator.manager.isLeader, second.reconciled], [false, []]);
      const begunMs = performance.now();
      await first.operator.stop();
      await second.operator.manager.elected;
      assert.ok(performance.now() - begunMs < timings.leaseDurationMs, 'it did not wait for the lease to run out');
      assert.equal(await holder(), 'second');
      await until('the second has seen it', () => second.reconciled.includes('a'));
    },
  },
  {
    name: 'who may no longer renew its lease stops before another one begins',
    async run(ground) {
      const { admin } = ground;
      const namespace = await ground.namespace();
      const first = candidate(ground, namespace, 'first');
      await first.operator.manager.elected;
      const lease = { namespace, name: 'election' };
      const spec = { holderIdentity: 'thief', leaseDurationSeconds: 60 };
      await admin.patch(Lease, lease, { type: 'merge', body: { spec } });
      await assert.rejects(first.operator.ended, { code: 'LeadershipLost' });
      assert.equal((await admin.get(Lease, lease)).spec?.holderIdentity, 'thief', 'it does not take back what it lost');
      await first.operator.client.close();
    },
  },
  {
    name: 'asked to end, a manager lets what is under way finish its writes and takes nothing new',
    async run(ground) {
      const { admin, config } = ground;
      const namespace = await ground.namespace();
      const begun: string[] = [];
      const hold = Promise.withResolvers<void>();
      const operator = await Operator.start(config, {
        cache: { defaults: { namespace } },
        setUp: (manager) =>
          void manager.controller({
            name: 'slow',
            for: Widget,
            concurrency: 2,
            async reconcile({ name }, { client }) {
              begun.push(name);
              await hold.promise;
              await client.create(ConfigMap, { metadata: { namespace, name: `done-${name}` } });
            },
          }),
      });
      for (const name of ['a', 'b', 'c']) {
        await admin.create(Widget, { metadata: { namespace, name }, spec: { size: 0 } });
      }
      await until('two are under way', () => begun.length === 2);
      const stopping = operator.stop();
      const isOver = await Promise.race([stopping.then(() => true), sleep(300).then(() => false)]);
      assert.equal(isOver, false, 'it waits for them');
      hold.resolve();
      await stopping;
      const { items } = await admin.list(ConfigMap, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name).toSorted(),
        begun.map((name) => `done-${name}`).toSorted(),
      );
      assert.equal(begun.length, 2, 'the third was not begun');
    },
  },
];

/** for, owns, watches: the desired state is reached, and kept. */

import assert from 'node:assert/strict';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { isConditionTrue, isControlledBy } from '@hangar/runtime';
import type { Case } from '../testing/case.ts';
import type { Ground } from '../testing/ground.ts';
import { addWidgetController, Operator } from '../testing/operator.ts';
import { until, untilHolds } from '../testing/until.ts';
import { finalizer, partName, sharedName, widgetReconciler } from '../testing/widget-reconciler.ts';
import type { WidgetReconcilerOptions } from '../testing/widget-reconciler.ts';
import { Widget } from '../testing/widgets.ts';

const operate = ({ config }: Ground, namespace: string, options: WidgetReconcilerOptions = {}): Promise<Operator> =>
  Operator.start(config, {
    cache: { defaults: { namespace } },
    setUp: (manager) => void addWidgetController(manager, widgetReconciler(options)),
  });

async function partsOf(client: Client, namespace: string, widget: string): Promise<string[]> {
  const owner = await client.get(Widget, { namespace, name: widget });
  const { items } = await client.list(ConfigMap, { namespace });
  return items.filter((one) => isControlledBy(one, owner)).map(({ metadata }) => metadata.name!);
}

const untilParts = (client: Client, namespace: string, widget: string, count: number): Promise<void> =>
  untilHolds(`${widget} has ${count} parts`, async () => {
    const wanted = Array.from({ length: count }, (_, n) => partName(widget, n));
    assert.deepEqual((await partsOf(client, namespace, widget)).toSorted(), wanted);
  });

export const reconciling: readonly Case[] = [
  {
    name: 'what was there before the operator is made as well as what comes later, and conditions say so to kubectl wait',
    async run(ground) {
      const namespace = await ground.namespace();
      const { admin } = ground;
      await admin.create(Widget, { metadata: { namespace, name: 'before' }, spec: { size: 2 } });
      await using _ = await operate(ground, namespace);
      await admin.create(Widget, { metadata: { namespace, name: 'later' }, spec: { size: 3 } });
      await ground.kubectl('wait', '--for=condition=Ready', 'widgets', '--all', `-n=${namespace}`, '--timeout=60s');
      await untilParts(admin, namespace, 'before', 2);
      await untilParts(admin, namespace, 'later', 3);
      const { metadata, status } = await admin.get(Widget, { namespace, name: 'later' });
      assert.equal(status?.parts, 3);
      assert.equal(status?.conditions?.[0]?.observedGeneration, metadata.generation);
    },
  },
  {
    name: 'a part that is changed or deleted is repaired, and surplus parts are deleted',
    async run(ground) {
      const namespace = await ground.namespace();
      const { admin } = ground;
      await using _ = await operate(ground, namespace);
      await admin.create(Widget, { metadata: { namespace, name: 'one' }, spec: { size: 4 } });
      await untilParts(admin, namespace, 'one', 4);
      const [changed, deleted] = [0, 1].map((n) => ({ namespace, name: partName('one', n) }));
      const before = await admin.get(ConfigMap, deleted!);
      await admin.patch(ConfigMap, changed!, { type: 'merge', body: { data: { widget: 'another' } } });
      await admin.delete(ConfigMap, deleted!);
      await untilHolds('both are repaired', async () => {
        assert.equal((await admin.get(ConfigMap, changed!)).data?.['widget'], 'one');
        assert.notEqual((await admin.get(ConfigMap, deleted!)).metadata.uid, before.metadata.uid);
      });
      await admin.patch(Widget, { namespace, name: 'one' }, { type: 'merge', body: { spec: { size: 1 } } });
      await untilParts(admin, namespace, 'one', 1);
      await until('the status says so', async () => {
        const { metadata, status } = await admin.get(Widget, { namespace, name: 'one' });
        return status?.conditions?.[0]?.observedGeneration === metadata.generation && status?.parts === 1;
      });
    },
  },
  {
    name: 'what all of them depend on changes: every one is looked at again',
    async run(ground) {
      const namespace = await ground.namespace();
      const { admin } = ground;
      await using _ = await operate(ground, namespace);
      const widgets = ['a', 'b', 'c'];
      for (const name of widgets) await admin.create(Widget, { metadata: { namespace, name }, spec: { size: 1 } });
      for (const name of widgets) await untilParts(admin, namespace, name, 1);
      for (const text of ['first', 'second']) {
        const shared = { metadata: { namespace, name: sharedName }, data: { text } };
        await admin.apply(ConfigMap, shared, { fieldManager: 'somebody' });
        await untilHolds(`all say ${text}`, async () => {
          for (const name of widgets) {
            const { data } = await admin.get(ConfigMap, { namespace, name: partName(name, 0) });
            assert.equal(data?.['text'], text);
          }
        });
      }
    },
  },
  {
    name: 'an object goes only after its clean-up, which is tried again until it succeeds',
    async run(ground) {
      const namespace = await ground.namespace();
      const { admin } = ground;
      const key = { namespace, name: 'kept' };
      const seen: boolean[] = [];
      await using operator = await operate(ground, namespace, {
        async cleanUp({ metadata }) {
          seen.push((await find(admin, Widget, { namespace, name: metadata.name! })) !== undefined);
          if (seen.length < 3) throw new Error('the outside world is not ready');
        },
      });
      await admin.create(Widget, { metadata: key, spec: { size: 1 } });
      await until('it has its finalizer', async () => {
        const { metadata, status } = await admin.get(Widget, key);
        return metadata.finalizers?.includes(finalizer) && isConditionTrue(status?.conditions, 'Ready');
      });
      await admin.delete(Widget, key);
      await until('it is gone', async () => !(await find(admin, Widget, key)));
      assert.deepEqual(seen, [true, true, true]);
      assert.ok(operator.logged.some((line) => line.includes('the outside world is not ready')));
    },
  },
];

/** A server whose history was compacted while no client was watching. */

import assert from 'node:assert/strict';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Case } from '../testing/case.ts';
import { History } from '../testing/history.ts';
import { Link } from '../testing/link.ts';
import { addWidgetController, Operator } from '../testing/operator.ts';
import { until, untilHolds } from '../testing/until.ts';
import { partName, widgetReconciler } from '../testing/widget-reconciler.ts';
import { Widget } from '../testing/widgets.ts';

export const forgetting: readonly Case[] = [
  {
    name: 'cut off while history is compacted away, an operator lists again: it learns of what came, changed and went',
    async run(ground) {
      const { admin, config, plane } = ground;
      const namespace = await ground.namespace();
      const { link, through } = await Link.open(config);
      await using _ = link;
      await using operator = await Operator.start(through, {
        cache: { defaults: { namespace } },
        setUp: (manager) => void addWidgetController(manager, widgetReconciler()),
      });
      const history = new History();
      const maps = operator.manager.cluster.cache.informer(ConfigMap);
      maps.addHandler(history);
      for (const name of ['changes', 'goes', 'stays']) {
        await admin.create(Widget, { metadata: { namespace, name }, spec: { size: 2 } });
      }
      const partOf = (widget: string) => ({ namespace, name: partName(widget, 1) });
      for (const widget of ['changes', 'goes', 'stays']) {
        await until(`the parts of ${widget} are known`, () => maps.get(partOf(widget)));
      }
      const { resourceVersion } = await admin.list(ConfigMap, { namespace });
      link.cut();
      await until('it is noticed', () => maps.health.state === 'failing');
      await admin.patch(ConfigMap, partOf('changes'), { type: 'merge', body: { data: { text: 'spoiled' } } });
      await admin.delete(ConfigMap, partOf('goes'));
      await admin.create(Widget, { metadata: { namespace, name: 'comes' }, spec: { size: 2 } });
      // The server's in-memory history is lost with its process.
      await plane.crash();
      await ground.compact();
      await plane.resume();
      await assert.rejects(
        async () => admin.watch(ConfigMap, { namespace, resourceVersion })[Symbol.asyncIterator]().next(),
        { code: 'Expired' },
        'the version of before is gone',
      );
      link.heal();
      await untilHolds('everything is as it should be', async () => {
        assert.equal((await admin.get(ConfigMap, partOf('changes'))).data?.['text'], '');
        await admin.get(ConfigMap, partOf('goes'));
        await admin.get(ConfigMap, partOf('comes'));
      });
      await untilHolds('the cache is what the server has', async () => {
        const { items } = await admin.list(ConfigMap, { namespace });
        const versions = Object.fromEntries(items.map((one) => [one.metadata.name!, one.metadata.resourceVersion!]));
        assert.deepEqual(Object.fromEntries(history.known), versions);
      });
      assert.deepEqual(history.contradictions, []);
    },
  },
];

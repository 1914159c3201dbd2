/** Concurrent writers: conflicts, fields of others, output for users. */

import assert from 'node:assert/strict';
import { connect } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { createOrUpdate, EventRecorder, retryOnConflict } from '@hangar/runtime';
import type { Case } from '../testing/case.ts';
import { addWidgetController, Operator } from '../testing/operator.ts';
import { untilHolds } from '../testing/until.ts';
import { widgetReconciler } from '../testing/widget-reconciler.ts';
import { Widget } from '../testing/widgets.ts';

interface Refusal {
  readonly code: string;
  readonly status: { readonly details?: { readonly causes?: readonly { readonly field?: string }[] } };
}

export const writing: readonly Case[] = [
  {
    name: 'an update of an old version is a conflict; retried as a whole, twelve writers lose nothing',
    async run(ground) {
      const { admin, config } = ground;
      const namespace = await ground.namespace();
      const key = { namespace, name: 'counter' };
      const old = await admin.create(ConfigMap, { metadata: key, data: { count: '0' } });
      const clients = Array.from({ length: 3 }, () => connect(config));
      const increment = (n: number): Promise<unknown> =>
        retryOnConflict(
          () =>
            createOrUpdate(clients[n % clients.length]!, ConfigMap, key, (map) => {
              map.data = { count: `${Number(map.data?.['count']) + 1}` };
            }),
          { attemptsMax: 60 },
        );
      await Promise.all(Array.from({ length: 12 }, (_, n) => increment(n)));
      assert.equal((await admin.get(ConfigMap, key)).data?.['count'], '12');
      await assert.rejects(admin.update(ConfigMap, { ...old, data: { count: '100' } }), { code: 'Conflict' });
      await Promise.all(clients.map((client) => client.close()));
    },
  },
  {
    name: "apply refuses another's fields by name, takes them by force, and takes away what it no longer says",
    async run(ground) {
      const { admin } = ground;
      const namespace = await ground.namespace();
      const metadata = { namespace, name: 'shared' };
      await admin.apply(ConfigMap, { metadata, data: { a: '1', b: '1' } }, { fieldManager: 'first' });
      const taken = { metadata, data: { a: '2', c: '2' } };
      const refusal = await admin.apply(ConfigMap, taken, { fieldManager: 'second' }).then(
        () => assert.fail('it was not refused'),
        (error: Refusal) => error,
      );
      assert.equal(refusal.code, 'Conflict');
      assert.deepEqual(
        refusal.status.details?.causes?.map(({ field }) => field),
        ['.data.a'],
      );
      await admin.apply(ConfigMap, taken, { fieldManager: 'second', force: true });
      await admin.apply(ConfigMap, { metadata, data: { b: '1' } }, { fieldManager: 'first' });
      assert.deepEqual((await admin.get(ConfigMap, metadata)).data, { a: '2', b: '1', c: '2' });
      const again = await admin.get(ConfigMap, metadata);
      const same = await admin.apply(ConfigMap, taken, { fieldManager: 'second' });
      assert.equal(same.metadata.resourceVersion, again.metadata.resourceVersion, 'nothing new is nothing written');
      await admin.apply(ConfigMap, { metadata, data: { c: '2' } }, { fieldManager: 'second' });
      assert.deepEqual((await admin.get(ConfigMap, metadata)).data, { b: '1', c: '2' });
    },
  },
  {
    name: 'events of a reconciler are shown by kubectl get events and describe; the same again is counted, not repeated',
    async run(ground) {
      const { admin, config } = ground;
      const namespace = await ground.namespace();
      await using operator = new Operator(config, { cache: { defaults: { namespace } } });
      const recorder = operator.manager.recorder('widget-operator');
      addWidgetController(operator.manager, widgetReconciler({ recorder }));
      operator.start();
      await admin.create(Widget, { metadata: { namespace, name: 'told' }, spec: { size: 2 } });
      await untilHolds('kubectl shows it', async () => {
        const events = await ground.kubectl('get', 'events', `-n=${namespace}`, '--no-headers');
        assert.match(events, /Normal +Assembled +widget\/told +there are 2 parts/);
        const described = await ground.kubectl('describe', 'widget', 'told', `-n=${namespace}`);
        assert.match(described, /Normal +Assembled .* widget-operator +there are 2 parts/);
      });

      const again = new EventRecorder({ component: 'repeats' });
      const widget = await admin.get(Widget, { namespace, name: 'told' });
      const target = { client: admin };
      for (let n = 0; n < 5; n++) again.for(target).warning(widget, 'Stuck', 'still the same');
      await again.close();
      const { items } = await admin.list(Event, { namespace });
      const stuck = items.filter(({ reason }) => reason === 'Stuck');
      assert.deepEqual(
        stuck.map(({ series, type }) => [series?.count, type]),
        [[5, 'Warning']],
      );
    },
  },
];

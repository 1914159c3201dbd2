/** Servers that go, kinds and rights that come later: what was known stays, what was missed is caught up with. */

import assert from 'node:assert/strict';
import { defineKind } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { installCrd } from '@hangar/testkit';
import type { Case } from '../testing/case.ts';
import { History } from '../testing/history.ts';
import { addWidgetController, Operator } from '../testing/operator.ts';
import { until, untilHolds } from '../testing/until.ts';
import { widgetReconciler } from '../testing/widget-reconciler.ts';
import { definitionOf, Widget } from '../testing/widgets.ts';
import type { WidgetObject } from '../testing/widgets.ts';

const Gadget = defineKind<WidgetObject>({
  apiVersion: 'runtime.example.com/v1',
  kind: 'Gadget',
  plural: 'gadgets',
  isNamespaced: true,
});

const user = 'limited@example.com';

export const failing: readonly Case[] = [
  {
    name: 'the server crashes and comes back: the operator goes on, and nothing is lost or there twice',
    async run(ground) {
      const { admin, config, plane } = ground;
      const namespace = await ground.namespace();
      await using operator = await Operator.start(config, {
        cache: { defaults: { namespace } },
        setUp: (manager) => void addWidgetController(manager, widgetReconciler()),
      });
      const history = new History();
      const maps = operator.manager.cluster.cache.informer(ConfigMap);
      maps.addHandler(history);
      for (let n = 0; n < 5; n++) {
        await admin.create(Widget, { metadata: { namespace, name: `w${n}` }, spec: { size: 2 } });
      }
      const parts = async (): Promise<number> =>
        (await admin.list(ConfigMap, { namespace })).items.filter(({ data }) => data?.['widget']).length;
      await until('all parts are there', async () => (await parts()) === 10);
      await until('the cache knows them', () => history.known.size >= 10);
      await plane.crash();
      await until('it is noticed', () => maps.health.state === 'failing');
      assert.equal([...maps.all()].length >= 10, true, 'what was known stays');
      await plane.resume();
      await admin.create(Widget, { metadata: { namespace, name: 'w5' }, spec: { size: 2 } });
      await admin.patch(Widget, { namespace, name: 'w0' }, { type: 'merge', body: { spec: { size: 1 } } });
      await until('it is caught up with', async () => (await parts()) === 11);
      await untilHolds('the cache and what its handlers were told are what the server has', async () => {
        const { items } = await admin.list(ConfigMap, { namespace });
        const versions = Object.fromEntries(items.map((one) => [one.metadata.name!, one.metadata.resourceVersion!]));
        assert.deepEqual(Object.fromEntries(history.known), versions);
        assert.deepEqual(
          Object.fromEntries(Array.from(maps.all(), (one) => [one.metadata.name!, one.metadata.resourceVersion!])),
          versions,
        );
      });
      assert.deepEqual(history.contradictions, [], 'nothing was added twice, or deleted without being there');
    },
  },
  {
    name: 'a kind that is defined while the operator runs is worked on from then on; until then other controllers work',
    async run(ground) {
      const { admin, config } = ground;
      const namespace = await ground.namespace();
      const seen: string[] = [];
      await using operator = new Operator(config, { cache: { defaults: { namespace } }, cacheSyncTimeoutMs: 500 });
      addWidgetController(operator.manager, widgetReconciler());
      operator.manager.controller({ name: 'gadget', for: Gadget, reconcile: ({ name }) => void seen.push(name) });
      operator.start();
      await admin.create(Widget, { metadata: { namespace, name: 'one' }, spec: { size: 1 } });
      await ground.kubectl('wait', '--for=condition=Ready', 'widget/one', `-n=${namespace}`, '--timeout=60s');
      assert.equal(seen.length, 0);
      await installCrd(admin, definitionOf('gadgets', 'Gadget'));
      await until('one can be made', () =>
        admin.create(Gadget, { metadata: { namespace, name: 'new' }, spec: { size: 1 } }).then(
          () => true,
          () => false,
        ),
      );
      await until('it is worked on', () => seen.includes('new'));
    },
  },
  {
    name: 'a user with rights in one namespace works there, and with more of them as soon as they are given',
    async run(ground) {
      const { admin, config } = ground;
      const [namespace, other] = [await ground.namespace(), await ground.namespace()];
      const grant = async (name: string, rules: NonNullable<Role['rules']>): Promise<void> => {
        const metadata = { namespace, name };
        await admin.create(Role, { metadata, rules });
        const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
        const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
        await admin.create(RoleBinding, { metadata, roleRef, subjects });
      };
      const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
      await grant('widgets', [{ apiGroups: ['runtime.example.com'], resources: ['widgets', 'widgets/status'], verbs }]);
      await admin.create(Widget, { metadata: { namespace, name: 'mine' }, spec: { size: 2 } });
      await admin.create(Widget, { metadata: { namespace: other, name: 'theirs' }, spec: { size: 2 } });
      await using operator = await Operator.start(
        { ...config, impersonate: { user } },
        {
          cache: { defaults: { namespaces: [namespace] } },
          cacheSyncTimeoutMs: 500,
          setUp: (manager) => void addWidgetController(manager, widgetReconciler()),
        },
      );
      const maps = operator.manager.cluster.cache.informer(ConfigMap);
      await until(
        'the right is missed',
        () => (maps.health.lastError as { code?: string } | undefined)?.code === 'Forbidden',
      );
      await assert.rejects(operator.client.list(Widget, { namespace: other }), { code: 'Forbidden' });
      await grant('configmaps', [{ apiGroups: [''], resources: ['configmaps'], verbs }]);
      await ground.kubectl('wait', '--for=condition=Ready', 'widget/mine', `-n=${namespace}`, '--timeout=60s');
      assert.equal((await admin.get(Widget, { namespace: other, name: 'theirs' })).status, undefined);
    },
  },
];

/** Addons in a control plane: applied, updated, removed; and problems are reported. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind, find } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import type { Clock } from '@hangar/core';
import type { Cluster } from '@hangar/runtime';
import { virtualClock } from '@hangar/testkit';
import { ControlPlane, ControlPlaneClass, labels } from '../api/index.ts';
import type { InsideChange } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilReady } from '../testing/until.ts';
import { Drift } from './drift.ts';

const Gadget = defineKind({ apiVersion: 'test.example/v1', kind: 'Gadget', plural: 'gadgets', isNamespaced: true });

const gadgets = `
apiVersion: test.example/v1
kind: Gadget
metadata: { name: first, namespace: gadgets }
spec: { size: 3 }
---
apiVersion: v1
kind: Namespace
metadata: { name: gadgets }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.test.example }
spec:
  group: test.example
  scope: Namespaced
  names: { kind: Gadget, plural: gadgets }
  versions:
  - name: v1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

const configMap = (name: string, text = 'a'): string => `
apiVersion: v1
kind: ConfigMap
metadata: { name: ${name} }
data: { text: ${text} }
`;

async function withAddons(
  platform: TestPlatform,
  addons: Readonly<Record<string, string>>,
  names = Object.keys(addons),
) {
  const { client } = platform;
  await client.create(Namespace, { metadata: { name: 'kplane-system' } });
  for (const [name, text] of Object.entries(addons)) await keep(platform, name, text);
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: { addons: names } });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'gold' } } });
  await untilReady(client, 'demo');
}

const keep = ({ client }: TestPlatform, name: string, text: string) =>
  client.create(ConfigMap, {
    metadata: { namespace: 'kplane-system', name, labels: { [labels.addon]: name } },
    data: { 'all.yaml': text },
  });

const change = ({ client }: TestPlatform, name: string, text: string) =>
  client.patch(
    ConfigMap,
    { namespace: 'kplane-system', name },
    { type: 'merge', body: { data: { 'all.yaml': text } } },
  );

const choose = ({ client }: TestPlatform, addons: readonly string[]) =>
  client.patch(ControlPlaneClass, { name: 'gold' }, { type: 'merge', body: { spec: { addons } } });

const untilApplied = ({ client }: TestPlatform, isSo: (reason: string, message: string) => boolean) =>
  until(client, ControlPlane, 'demo', (one) => {
    const { reason = '', message = '' } = findCondition(one?.status?.conditions, 'AddonsApplied') ?? {};
    return isSo(reason, message);
  });

test('starter puts a word of welcome into the control plane, and nothing that decides anything', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, {}, ['starter']);
  const inside = platform.inside('demo');
  const welcome = await inside.get(ConfigMap, { namespace: 'kplane-system', name: 'welcome' });
  assert.equal(welcome.metadata.labels?.[labels.addon], 'starter');
  const list = await inside.get(ConfigMap, { namespace: 'kplane-system', name: 'addons' });
  assert.equal(list.data!['objects']!.trim().split('\n').length, 1);
});

test('definitions, namespaces and objects of them may stand in any order', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, { gadgets });
  const first = await platform.inside('demo').get(Gadget, { namespace: 'gadgets', name: 'first' });
  assert.deepEqual(first['spec'], { size: 3 });
});

test('what changes in an addon changes in the control plane, and what is gone from it goes', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, { web: `${configMap('one')}---${configMap('two')}` });
  const inside = platform.inside('demo');
  const key = (name: string) => ({ namespace: 'default', name });
  await inside.get(ConfigMap, key('two'));
  await change(platform, 'web', configMap('one', 'b'));
  await until(inside, ConfigMap, 'two', (one) => one === undefined, 'default');
  assert.equal((await inside.get(ConfigMap, key('one'))).data!['text'], 'b');
  await choose(platform, []);
  await until(inside, ConfigMap, 'one', (one) => one === undefined, 'default');
  await untilApplied(platform, (reason) => reason === '');
});

test('an object from which somebody takes the label is theirs', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, { web: `${configMap('one')}---${configMap('two')}` });
  const inside = platform.inside('demo');
  const body = { metadata: { labels: { [labels.addon]: null } } };
  await inside.patch(ConfigMap, { namespace: 'default', name: 'one' }, { type: 'merge', body });
  await choose(platform, []);
  await until(inside, ConfigMap, 'two', (one) => one === undefined, 'default');
  await untilApplied(platform, (reason) => reason === '');
  await inside.get(ConfigMap, { namespace: 'default', name: 'one' });
});

test('an addon that nobody has made is told, and applied when it comes', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, {}, ['web']);
  const waiting = await untilApplied(platform, (reason) => reason === 'AddonNotFound');
  assert.match(findCondition(waiting!.status?.conditions, 'AddonsApplied')!.message, /"web"/);
  await keep(platform, 'web', configMap('one'));
  await untilApplied(platform, (reason) => reason === 'Applied');
  await platform.inside('demo').get(ConfigMap, { namespace: 'default', name: 'one' });
});

for (const [what, text, expected] of [
  ['is no YAML', 'a: [', /ConfigMap "kplane-system\/web", key "all\.yaml"/],
  ['has no kind', 'apiVersion: v1\nmetadata: {name: a}', /no kind/],
  ['has no name', 'apiVersion: v1\nkind: ConfigMap', /a ConfigMap has no name/],
  ['is of a kind that there is not', 'apiVersion: nowhere.example/v1\nkind: Thing\nmetadata: {name: a}', /Thing "a": /],
  ['is refused', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: UPPER}', /ConfigMap "UPPER": /],
  [
    'is in a namespace that there is not',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}',
    /ConfigMap "nowhere\/a": /,
  ],
  [
    'has a path for a name',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "../../../../../api/v1/namespaces/default"}',
    /invalid name/,
  ],
  [
    'has a path for a namespace',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: "../../clusters/other"}',
    /invalid namespace/,
  ],
  [
    'has a path for a version',
    'apiVersion: "v1/../../../../clusters/other/control-plane/api/v1"\nkind: ConfigMap\nmetadata: {name: a}',
    /ConfigMap "a": /,
  ],
] as const) {
  test(`an object of an addon that ${what} is named, the control plane is ready, and a better one is applied`, async () => {
    await using platform = await startTestPlatform();
    platform.start();
    await withAddons(platform, { web: text });
    const failed = await untilApplied(platform, (reason) => reason !== '' && reason !== 'Applied');
    assert.match(findCondition(failed!.status?.conditions, 'AddonsApplied')!.message, expected);
    assert.equal(findCondition(failed!.status?.conditions, 'Ready')!.status, 'True');
    const strays = platform.requests.filter((one) => one.includes('/other') || one.includes('..'));
    assert.deepEqual(strays, []);
    await change(platform, 'web', configMap('one'));
    await untilApplied(platform, (reason) => reason === 'Applied');
  });
}

test('an inventory that somebody has spoilt takes nothing away', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, { web: configMap('one') });
  const inside = platform.inside('demo');
  const forged = JSON.stringify({
    apiVersion: 'v1/../..',
    kind: 'Namespace',
    plural: 'namespaces',
    isNamespaced: false,
    name: 'default',
    addon: 'web',
  });
  const body = { data: { objects: `${forged}\nnonsense\n{"apiVersion":"v1"}\n` } };
  await inside.patch(ConfigMap, { namespace: 'kplane-system', name: 'addons' }, { type: 'merge', body });
  await change(platform, 'web', configMap('two'));
  await until(inside, ConfigMap, 'two', (one) => one !== undefined, 'default');
  await untilApplied(platform, (reason) => reason === 'Applied');
  assert.notEqual(await find(inside, ConfigMap, { namespace: 'default', name: 'one' }), undefined);
});

test('what somebody inside changes or deletes is put right at once, and only then is the control plane entered', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await withAddons(platform, { web: configMap('one'), more: configMap('two') });
  await untilApplied(platform, (reason) => reason === 'Applied');
  const inside = platform.inside('demo');
  await inside.patch(
    ConfigMap,
    { namespace: 'default', name: 'one' },
    { type: 'merge', body: { data: { text: 'b' } } },
  );
  await until(inside, ConfigMap, 'one', (one) => one?.data?.['text'] === 'a', 'default');
  // Our own writes come back as changes, too: they do not cause another pass.
  await platform.quiet();
  platform.forget();
  await inside.create(ConfigMap, { metadata: { namespace: 'default', name: 'another' } });
  await platform.quiet();
  assert.deepEqual(platform.requests, []);
});

/** Changes that the host reports, and requeues that follow. */
async function toldDrift(clock: Clock, wanting = ['demo']) {
  let tell: (change: InsideChange) => void = () => {};
  const drift = new Drift({ changes: async (listener) => void (tell = listener) }, clock);
  const asked: (number | undefined)[] = [];
  const informer = { byIndex: () => wanting.map((name) => ({ metadata: { name } })) };
  const cluster = { cache: { informer: () => informer } } as unknown as Cluster;
  const enqueue = (_: unknown, options?: { afterMs?: number }) => void asked.push(options?.afterMs);
  await drift.source({ cluster, enqueue } as never, new AbortController().signal);
  const change = (resourceVersion: string, name = 'one') =>
    tell({ path: 'demo', object: `configmaps./default/${name}`, resourceVersion });
  const item = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    isNamespaced: true,
    name: 'one',
    addon: 'web',
  };
  const applied = (resourceVersion: string) =>
    drift.applied({ path: 'demo', item: { ...item, namespace: 'default' }, resourceVersion });
  return { drift, asked, change, applied };
}

test('what is changed again and again is put right less and less often', async () => {
  const clock = virtualClock();
  const { drift, asked, change, applied } = await toldDrift(clock);
  assert.equal(drift.dueMs('demo'), undefined);
  change('5');
  assert.equal(drift.dueMs('demo'), 0);
  assert.equal(drift.dueMs('demo'), 0, 'until it was looked after');
  drift.settled('demo', drift.seen('demo'));
  assert.equal(drift.dueMs('demo'), undefined);
  applied('6');
  change('7');
  assert.equal(drift.dueMs('demo'), 10_000);
  assert.deepEqual(asked, [100, 10_000]);
  await clock.advance(10_000);
  assert.equal(drift.dueMs('demo'), 0);
  drift.settled('demo', drift.seen('demo'));
  change('8');
  assert.equal(drift.dueMs('demo'), 20_000);
  await clock.advance(60_000);
  applied('9');
  change('9');
  assert.equal(drift.dueMs('demo'), undefined, 'it was us');
});

test('what comes while it is looked after is not forgotten, and a flood costs little', async () => {
  const { drift, change } = await toldDrift(virtualClock());
  change('5');
  const seen = drift.seen('demo');
  change('6');
  drift.settled('demo', seen);
  assert.equal(drift.dueMs('demo'), 10_000);
  for (let at = 0; at < 5_000; at++) change(String(at), `n${at}`);
  assert.equal(drift.seen('demo').size, 1_025);
  drift.forget('demo');
  assert.equal(drift.seen('demo').size, 0);
});

test('of a tenant that no control plane wants nothing is kept', async () => {
  const { drift, asked, change } = await toldDrift(virtualClock(), []);
  change('5');
  assert.deepEqual([drift.seen('demo').size, asked], [0, []]);
});

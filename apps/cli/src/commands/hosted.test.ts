import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Namespace, Service } from '@hangar/client/kinds/core-v1';
import {
  annotations as hostedAnnotations,
  definitions,
  HostedControlPlane,
  previewObjects,
} from '@hangar/hosted-operator';
import { installCrd } from '@hangar/testkit';
import { Secret } from '../kinds.ts';
import { openTestWorld } from '../testing/test-session.ts';

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: demo, cluster: {server: 'https://127.0.0.1:30001', certificate-authority-data: YQ==}}]
users: [{name: admin, user: {client-certificate-data: YQ==, client-key-data: YQ==}}]
contexts: [{name: demo, context: {cluster: demo, user: admin}}]
current-context: demo
`;

async function openHostedWorld() {
  const world = await openTestWorld();
  for (const definition of definitions) await installCrd(world.client, definition);
  return world;
}

async function create(client: Client, name: string, namespace = 'default'): Promise<HostedControlPlane> {
  return client.create(HostedControlPlane, {
    metadata: { namespace, name },
    spec: { version: 'v1.36.4', replicas: 1, controlPlaneEndpoint: { host: '127.0.0.1', port: 30_001 } },
  });
}

/** Applies all objects of the newest rendering, as the operator does. */
async function applyAll(client: Client, plane: HostedControlPlane): Promise<void> {
  for (const { kind, object } of await previewObjects(client, plane)) {
    const { metadata } = object;
    // As the operator does: the digest is not part of the rendered object.
    const annotations = { ...metadata.annotations, [hostedAnnotations.rendered]: 'digest' };
    const applied = { ...object, metadata: { ...metadata, annotations } };
    await client.apply(kind, applied as never, { fieldManager: 'hangar-hosted', force: true });
  }
}

describe('hosted list', () => {
  test('prints a table of all namespaces, or one as data', async () => {
    await using world = await openHostedWorld();
    const { client } = world;
    assert.match((await world.run('hosted', 'list')).err, /there is no hosted control plane/);
    await client.create(Namespace, { metadata: { name: 'team' } });
    await create(client, 'demo');
    await create(client, 'other', 'team');
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    const body = { status: { version: 'v1.36.4', readyReplicas: 1, conditions } };
    await client.status.patch(HostedControlPlane, { namespace: 'default', name: 'demo' }, { type: 'merge', body });
    const { code, out } = await world.run('hosted', 'list');
    assert.equal(code, 0);
    const rows = out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 6));
    assert.deepEqual(rows.slice(0, 3), [
      ['NAMESPACE', 'NAME', 'VERSION', 'READY', 'REPLICAS', 'ENDPOINT'],
      ['default', 'demo', 'v1.36.4', 'True', '1/1', 'https://127.0.0.1:30001'],
      ['team', 'other', 'v1.36.4', 'Unknown', '0/1', 'https://127.0.0.1:30001'],
    ]);
    const one = JSON.parse((await world.run('hosted', 'get', 'other', '-o', 'json')).out);
    assert.deepEqual([one.kind, one.metadata.namespace], ['HostedControlPlane', 'team']);
    assert.equal((await world.run('hosted', 'list', '-n', 'team', '-o', 'name')).out.split('\n').length, 2);
  });

  test('names the way to get the kind, similar names, and ambiguous names', async () => {
    await using bare = await openTestWorld();
    assert.match((await bare.run('hosted', 'list')).err, /does not serve HostedControlPlanes[^]*up --hosted/);
    await using world = await openHostedWorld();
    await world.client.create(Namespace, { metadata: { name: 'team' } });
    await create(world.client, 'demo');
    await create(world.client, 'demo', 'team');
    assert.match((await world.run('hosted', 'get', 'dem')).err, /no hosted control plane "dem"[^]*did you mean "demo"/);
    assert.match((await world.run('hosted', 'get', 'demo')).err, /default, team[^]*--namespace NAMESPACE/);
    assert.equal((await world.run('hosted', 'get', 'demo', '-n', 'team')).code, 0);
  });

  test('refuses unknown actions, missing names and options of other actions', async () => {
    await using world = await openTestWorld();
    assert.match((await world.run('hosted', 'lst')).err, /"lst" is not an action of hosted/);
    assert.match((await world.run('hosted', 'kubeconfig')).err, /hosted kubeconfig requires NAME/);
    assert.match((await world.run('hosted', 'list', '--merge')).err, /--merge is not an option of hosted list/);
    assert.match((await world.run('hosted', 'diff')).err, /NAME or --all is required/);
  });
});

describe('hosted kubeconfig', () => {
  test('prints or writes the kubeconfig of the Secret', async () => {
    await using world = await openHostedWorld();
    await create(world.client, 'demo');
    assert.match((await world.run('hosted', 'kubeconfig', 'demo')).err, /"default\/demo" has no kubeconfig yet/);
    await world.client.create(Secret, {
      metadata: { namespace: 'default', name: 'demo-kubeconfig' },
      data: { value: Buffer.from(kubeconfig).toString('base64') },
    });
    const { out } = await world.run('hosted', 'kubeconfig', 'demo');
    assert.match(out, /server: https:\/\/127\.0\.0\.1:30001/);
    const { code, err } = await world.run('hosted', 'kubeconfig', 'demo', '-o', 'demo.kubeconfig');
    assert.deepEqual([code, err], [0, 'kubeconfig of hosted control plane demo written to demo.kubeconfig\n']);
    assert.equal(readFileSync(join(world.folder, 'demo.kubeconfig'), 'utf8'), out);
  });
});

describe('hosted diff', () => {
  test('exits with 0 without a difference, and with 1 and a unified diff otherwise; it writes nothing', async () => {
    await using world = await openHostedWorld();
    const { client } = world;
    const plane = await create(client, 'demo');
    const missing = await world.run('hosted', 'diff', 'demo');
    assert.equal(missing.code, 1);
    assert.match(missing.out, /^--- \/dev\/null\n\+\+\+ Service default\/apiserver-demo\n@@ -0,0 /);
    await applyAll(client, plane);
    // The type of the Service is now known from the Service.
    await applyAll(client, plane);
    const same = await world.run('hosted', 'diff', '--all');
    assert.deepEqual([same.code, same.out, same.err], [0, '', 'default/demo: changed objects: 0\n']);

    const key = { namespace: 'default', name: 'demo-scheduler' };
    const body = { spec: { template: { spec: { terminationGracePeriodSeconds: 77 } } } };
    await client.patch(Deployment, key, { type: 'merge', body });
    const before = await client.get(Deployment, key);
    const { code, out, err } = await world.run('hosted', 'diff', 'demo');
    assert.equal(code, 1);
    assert.match(out, /^--- Deployment default\/demo-scheduler\n\+\+\+ Deployment default\/demo-scheduler\n@@ /);
    assert.match(out, /\n-\s+terminationGracePeriodSeconds: 77\n\+\s+terminationGracePeriodSeconds: 30\n/);
    assert.equal(err, 'default/demo: changed objects: 1\n');
    const after = await client.get(Deployment, key);
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
  });

  test('shows the refusal of the server for a field that cannot change', async () => {
    await using world = await openHostedWorld();
    const plane = await create(world.client, 'demo');
    await applyAll(world.client, plane);
    const key = { namespace: 'default', name: 'demo-scheduler' };
    const deployment = await world.client.get(Deployment, key);
    await world.client.delete(Deployment, key);
    const labels = { app: 'other' };
    const { template } = deployment.spec!;
    await world.client.create(Deployment, {
      metadata: key,
      spec: { ...deployment.spec!, selector: { matchLabels: labels }, template: { ...template, metadata: { labels } } },
    });
    const { code, out } = await world.run('hosted', 'diff', 'demo');
    assert.equal(code, 1);
    assert.match(out, /^# Deployment default\/demo-scheduler: the server refuses the change: .*field is immutable/m);
  });

  test('render prints all objects as YAML documents', async () => {
    await using world = await openHostedWorld();
    await create(world.client, 'demo');
    const { code, out } = await world.run('hosted', 'render', 'demo');
    assert.equal(code, 0);
    const kinds = new Set(out.matchAll(/^kind: (\w+)$/gm).map(([, kind]) => kind));
    for (const kind of ['Service', 'StatefulSet', 'Deployment', 'PodDisruptionBudget'])
      assert.ok(kinds.has(kind), kind);
    assert.equal(
      (await world.client.list(Service, { namespace: 'default' })).items.some(
        ({ metadata }) => metadata.name === 'apiserver-demo',
      ),
      false,
    );
  });
});

describe('hosted roll-out', () => {
  const status = (rendering: string, ready: 'True' | 'False' = 'True', reason = 'Reconciled') => ({
    rendering,
    conditions: [{ type: 'Ready', status: ready, reason, message: 'why', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  });

  /** A control plane of an earlier release. */
  async function older(client: Client, name: string, annotations: Record<string, string> = {}): Promise<void> {
    await create(client, name);
    const key = { namespace: 'default', name };
    const metadata = { annotations: { ...annotations, [hostedAnnotations.rendering]: '0' } };
    await client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata } });
    await client.status.patch(HostedControlPlane, key, { type: 'merge', body: { status: status('0') } });
  }

  /** Does what the operator does with the annotation: the control plane becomes ready, or fails. Returns the order of the changes. */
  function operatorDouble(client: Client, failing: ReadonlySet<string> = new Set()) {
    const [order, ending]: [string[], AbortController] = [[], new AbortController()];
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const, signal: ending.signal };
    const following = (async () => {
      for await (const event of client.watch(HostedControlPlane, options)) {
        if (event.type === 'BOOKMARK') continue;
        const { metadata, status: before } = event.object;
        const [name = '', wanted] = [metadata.name, metadata.annotations?.[hostedAnnotations.rendering]];
        const isFailed = before?.conditions?.[0]?.status === 'False';
        if (wanted !== '1' || before?.rendering === '1' || (isFailed && failing.has(name))) continue;
        order.push(name);
        const after = failing.has(name) ? status('0', 'False', 'ContainerCrashes') : status('1');
        await client.status.patch(
          HostedControlPlane,
          { namespace: 'default', name },
          { type: 'merge', body: { status: after } },
        );
      }
    })().catch(() => {});
    const stop = async (): Promise<void> => {
      ending.abort();
      await following;
    };
    return { order, [Symbol.asyncDispose]: stop };
  }

  const renderingOf = async (client: Client, name: string) =>
    (await client.get(HostedControlPlane, { namespace: 'default', name })).metadata.annotations![
      hostedAnnotations.rendering
    ];

  test('changes waves in their order, and waits for each; a second run changes nothing', async () => {
    await using world = await openHostedWorld();
    const { client } = world;
    for (const name of ['a', 'b']) await older(client, name);
    await older(client, 'canary', { 'hosted.hangar.dev/wave': '-1' });
    await older(client, 'held', { 'cluster.x-k8s.io/paused': '' });
    const dry = await world.run('hosted', 'roll-out', '--all', '--dry-run', '--wave-size=2');
    assert.equal(dry.code, 0);
    assert.match(dry.err, /default\/held: skipped: paused\n/);
    assert.match(
      dry.err,
      /rendering 1: hosted control planes: 3, waves: 2\nwave 1 of 2\ndefault\/canary: rendering 0, changed objects: \d+\n/,
    );
    assert.equal(await renderingOf(client, 'canary'), '0');
    await using operator = operatorDouble(client);
    const { code, err } = await world.run('hosted', 'roll-out', '--all', '--wave-size=2', '--yes');
    assert.equal(code, 0, err);
    assert.deepEqual([operator.order[0], operator.order.toSorted()], ['canary', ['a', 'b', 'canary']]);
    assert.match(err, /default\/canary: ready with rendering 1\nwave 2 of 2\n/);
    assert.equal(await renderingOf(client, 'held'), '0');
    const again = await world.run('hosted', 'roll-out', '--all', '--yes');
    assert.deepEqual([again.code, again.err.includes('no hosted control plane changes: rendering 1')], [0, true]);
  });

  test('stops at the first control plane that fails, names its fault, and continues when it is fixed', async () => {
    await using world = await openHostedWorld();
    const { client } = world;
    for (const name of ['a', 'b']) await older(client, name);
    const failing = new Set(['a']);
    await using operator = operatorDouble(client, failing);
    const { code, err } = await world.run('hosted', 'roll-out', '--all', '--wave-size=1', '--yes');
    assert.equal(code, 1);
    assert.match(err, /the roll-out stopped at default\/a: ContainerCrashes: why/);
    assert.match(err, /to continue when the fault is fixed: hangar hosted roll-out --wave-size=1 --all/);
    assert.match(err, /to go back: hangar hosted roll-out a -n default --to 0/);
    assert.deepEqual([await renderingOf(client, 'b'), operator.order], ['0', ['a']]);
    failing.clear();
    await client.status.patch(
      HostedControlPlane,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { status: status('0', 'False', 'DeploymentRollingOut') } },
    );
    assert.equal((await world.run('hosted', 'roll-out', '--all', '--wave-size=1', '--yes')).code, 0);
    assert.deepEqual([await renderingOf(client, 'a'), await renderingOf(client, 'b')], ['1', '1']);
  });

  test('a control plane that is not ready is skipped, unless it is named', async () => {
    await using world = await openHostedWorld();
    const { client } = world;
    await older(client, 'a');
    const body = { status: status('0', 'False', 'ContainerCrashes') };
    await client.status.patch(HostedControlPlane, { namespace: 'default', name: 'a' }, { type: 'merge', body });
    const skipped = await world.run('hosted', 'roll-out', '--all', '--yes');
    assert.deepEqual([skipped.code, await renderingOf(client, 'a')], [1, '0']);
    assert.match(skipped.err, /default\/a: skipped: not ready: ContainerCrashes/);
    await using operator = operatorDouble(client);
    assert.equal((await world.run('hosted', 'roll-out', 'a', '--yes')).code, 0);
    assert.deepEqual(operator.order, ['a']);
  });

  test('without an operator it fails after the timeout, and without a confirmation it changes nothing', async () => {
    await using world = await openHostedWorld();
    const { client } = world;
    await older(client, 'a');
    assert.match((await world.run('hosted', 'roll-out', 'a')).err, /nothing was changed: there is no terminal/);
    const no = await world.runIn({ ask: () => Promise.resolve('no') }, 'hosted', 'roll-out', 'a');
    assert.deepEqual([no.code, await renderingOf(client, 'a')], [1, '0']);
    const late = await world.run('hosted', 'roll-out', 'a', '--yes', '--timeout=50ms');
    assert.equal(late.code, 1);
    assert.match(late.err, /default\/a: not ready with rendering 1 within 0\.05 s: the operator did not change it/);
  });

  test('refuses unknown renderings, several selections, and several names for other actions', async () => {
    await using world = await openHostedWorld();
    const fails = async (text: RegExp, ...words: string[]): Promise<void> => {
      const { code, err } = await world.run('hosted', ...words);
      assert.equal(code, 2, err);
      assert.match(err, text);
    };
    await fails(/--to "9" is not a known rendering[^]*renderings: 1/, 'roll-out', '--all', '--to=9');
    await fails(/one of NAME, --all and --selector is required/, 'roll-out');
    await fails(/one of NAME, --all and --selector is required/, 'roll-out', 'a', '--all');
    await fails(/--wave-size "0" is not/, 'roll-out', '--all', '--wave-size=0');
    await fails(/hosted render accepts only one NAME/, 'render', 'a', 'b');
  });
});

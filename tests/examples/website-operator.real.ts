/** The operator of one cluster, on the real kube-apiserver and on Hangar, with exactly the permissions of its manifests. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseYamlDocuments } from '@hangar/api/yaml';
import { find } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { ConfigMap, Service } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { owned } from '../../examples/website-operator/src/reconcile.ts';
import { Website } from '../../examples/website-operator/src/website.ts';
import { eventually } from './testing/eventually.ts';
import { Example, exampleFolder } from './testing/example.ts';
import { assertExactRights, Side, sideNames } from './testing/sides.ts';

const manifest = (name: string): string => join(exampleFolder('website-operator'), name);
const account = { namespace: 'website-operator', name: 'website-operator' };
const namespace = 'default';
const key = (name: string) => ({ namespace, name });
const leads = 'leader_election_master_status{name="website-operator"}';

describe('the website operator', { concurrency: 2 }, () => {
  for (const sideName of sideNames) describe(`on ${sideName}`, { concurrency: 1 }, () => suite(sideName));
});

function suite(sideName: Side['name']): void {
  const opened = new AsyncDisposableStack();
  let side: Side;
  let kubeconfig: string;
  let first: Example;

  before(async () => {
    side = opened.use(await Side.start(sideName));
    await side.apply(manifest('website-crd.yaml'), manifest('rbac.yaml'));
    await side.kubectl(['wait', '--for=condition=Established', 'crd/websites.example.com']);
    kubeconfig = await side.kubeconfigOf(account);
    first = await startOperator();
  });
  after(() => opened.disposeAsync());

  const startOperator = async (): Promise<Example> =>
    opened.use(await Example.start({ example: 'website-operator', env: { KUBECONFIG: kubeconfig } }));

  const create = (name: string, spec: Website['spec']): Promise<Website> =>
    side.client.create(Website, { metadata: key(name), spec });
  const merge = (name: string, spec: Partial<Website['spec']>): Promise<Website> =>
    side.client.patch(Website, key(name), { type: 'merge', body: { spec } });

  /** Resolves with its condition, when it is of the newest generation and has this message. */
  const told = (name: string, message: string, withinMs?: number) =>
    eventually(
      `${name}: ${message}`,
      async () => {
        const { metadata, status } = await side.client.get(Website, key(name));
        const ready = findCondition(status?.conditions, 'Ready');
        return ready?.observedGeneration === metadata.generation && ready?.message === message ? ready : undefined;
      },
      withinMs,
    );

  /** Sets the status as the deployment controller would: no pods run here. */
  const runPods = (name: string, readyReplicas: number) =>
    side.client.status.patch(Deployment, key(name), {
      type: 'merge',
      body: { status: { replicas: readyReplicas, readyReplicas, availableReplicas: readyReplicas } },
    });

  test('what a Website asks for appears, and is its own', async () => {
    const { metadata } = await create('home', { html: '<h1>Hello</h1>' });
    const ready = await told('home', '0 of 1 replicas are ready');
    assert.deepEqual([ready.status, ready.reason], ['False', 'ReplicasMissing']);
    for (const kind of owned) {
      const object = await side.client.get(kind, key('home'));
      assert.deepEqual(object.metadata.ownerReferences, [
        {
          apiVersion: 'example.com/v1',
          kind: 'Website',
          name: 'home',
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
    assert.deepEqual((await side.client.get(ConfigMap, key('home'))).data, { 'index.html': '<h1>Hello</h1>' });
    assert.deepEqual((await side.client.get(Service, key('home'))).spec?.selector, { website: 'home' });
    assert.equal((await side.client.get(Website, key('home'))).status?.url, 'http://home.default.svc');
  });

  test('its status follows what runs, and kubectl shows it', async () => {
    await runPods('home', 1);
    const ready = await told('home', '1 of 1 replicas are ready');
    assert.deepEqual([ready.status, ready.reason], ['True', 'AllReplicasReady']);
    assert.match(await side.kubectl(['get', 'web']), /NAME +REPLICAS +READY +AGE\nhome +1 +True/);
  });

  test('a change is followed, and the time of a condition is that of its status', async () => {
    const before = await told('home', '1 of 1 replicas are ready');
    await merge('home', { html: '<h1>Goodbye</h1>' });
    const same = await told('home', '1 of 1 replicas are ready');
    assert.equal(same.lastTransitionTime, before.lastTransitionTime);
    assert.equal((await side.client.get(ConfigMap, key('home'))).data?.['index.html'], '<h1>Goodbye</h1>');
    await merge('home', { replicas: 3 });
    const ready = await told('home', '1 of 3 replicas are ready');
    assert.deepEqual([ready.status, ready.observedGeneration], ['False', 3]);
    assert.equal((await side.client.get(Deployment, key('home'))).spec?.replicas, 3);
    await runPods('home', 3);
    await told('home', '3 of 3 replicas are ready');
  });

  test('what somebody changes or deletes is repaired, what somebody adds stays', async () => {
    await side.kubectl(['scale', 'deployment/home', '--replicas=7']);
    await side.kubectl(['annotate', 'deployment/home', 'note=mine']);
    await eventually('three again', async () => {
      const { spec, metadata } = await side.client.get(Deployment, key('home'));
      return spec?.replicas === 3 && metadata.annotations?.['note'] === 'mine';
    });
    const { metadata } = await side.client.get(Service, key('home'));
    await side.client.delete(Service, key('home'));
    await eventually('another service', async () => {
      const service = await find(side.client, Service, key('home'));
      return service && service.metadata.uid !== metadata.uid;
    });
    await side.kubectl(['patch', 'configmap', 'home', '--patch={"data":{"index.html":"defaced"}}']);
    await eventually('the page', async () => {
      const { data } = await side.client.get(ConfigMap, key('home'));
      return data?.['index.html'] === '<h1>Goodbye</h1>';
    });
  });

  test('what is somebody else’s is not taken', async () => {
    await side.client.create(ConfigMap, { metadata: key('taken'), data: { a: '1' } });
    await create('taken', { html: 'mine' });
    const ready = await told('taken', 'ConfigMap "taken" already exists and does not belong to this Website');
    assert.deepEqual([ready.status, ready.reason], ['False', 'NameConflict']);
    assert.deepEqual((await side.client.get(ConfigMap, key('taken'))).data, { a: '1' });
    assert.equal(await find(side.client, Deployment, key('taken')), undefined);
    await side.client.delete(ConfigMap, key('taken'));
    await merge('taken', { replicas: 2 });
    await told('taken', '0 of 2 replicas are ready');
  });

  test('what is being deleted is left alone', async () => {
    await side.client.delete(Website, key('taken'), { propagationPolicy: 'Foreground' });
    for (const kind of owned) await side.client.delete(kind, key('taken'));
    // Later objects are reconciled after it.
    await create('after', { html: 'after' });
    await told('after', '0 of 1 replicas are ready');
    for (const kind of owned) assert.equal(await find(side.client, kind, key('taken')), undefined);
    const body = [{ op: 'remove', path: '/metadata/finalizers' }];
    await side.client.patch(Website, key('taken'), { type: 'json', body });
    assert.equal(await find(side.client, Website, key('taken')), undefined);
  });

  test('its metrics have the names of controller-runtime, and its probes say what they checked', async () => {
    const text = await first.get('/metrics');
    for (const series of [
      'controller_runtime_reconcile_total{controller="website",result="success"}',
      'controller_runtime_reconcile_errors_total{controller="website"} 0',
      'controller_runtime_terminal_reconcile_errors_total{controller="website"} 0',
      'controller_runtime_reconcile_time_seconds_bucket{controller="website"',
      'controller_runtime_max_concurrent_reconciles{controller="website"} 4',
      'controller_runtime_active_workers{controller="website"}',
      'workqueue_adds_total{',
      'workqueue_queue_duration_seconds_bucket{',
      'rest_client_requests_total{',
      `${leads} 1`,
      'process_resident_memory_bytes ',
    ]) {
      assert.ok(
        text.split('\n').some((line) => line.startsWith(series)),
        `${series} is not in\n${text}`,
      );
    }
    assert.match(await first.get('/readyz?verbose'), /^\[\+\]caches ok\n[^]*readyz check passed\n$/);
    assert.equal(await first.get('/healthz'), 'ok');
  });

  test('of two, one works; when it is asked to end, it lets go and the other works at once', async () => {
    const second = await startOperator();
    assert.deepEqual([await first.metric(leads), await second.metric(leads)], [1, 0]);
    const lease = await side.client.get(Lease, account);
    const startedMs = performance.now();
    assert.equal(await first.end('SIGTERM'), 0, first.output);
    const { spec } = await side.client.get(Lease, account);
    assert.notEqual(spec?.holderIdentity, lease.spec?.holderIdentity, 'the lease is released');
    await create('second', { html: 'second' });
    await told('second', '0 of 1 replicas are ready');
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 10_000, `taken over in ${tookMs} ms: the lease had to run out`);
    console.log(`${sideName}: after SIGTERM the other works in ${(tookMs / 1000).toFixed(1)} s`);
    assert.equal(await second.metric(leads), 1);
    first = second;
  });

  test('when the one that works is killed, the other takes over when its lease has run out', async () => {
    const other = await startOperator();
    const startedMs = performance.now();
    assert.equal(await first.end('SIGKILL'), 'SIGKILL');
    await merge('home', { replicas: 5 });
    // Twice the lease and a retry: machines that run tests are slow.
    await told('home', '3 of 5 replicas are ready', 40_000);
    const tookMs = performance.now() - startedMs;
    console.log(`${sideName}: after SIGKILL the other works in ${(tookMs / 1000).toFixed(1)} s`);
    assert.equal(await other.metric(leads), 1);
    assert.equal(await other.end('SIGTERM'), 0, other.output);
  });

  test('it used every right that its roles give, and was refused none', async () => {
    const roles = parseYamlDocuments(await readFile(manifest('rbac.yaml'), 'utf8'));
    await assertExactRights(side, account, roles, ['update example.com/websites/finalizers']);
  });
}

/** The autoscaler with a management cluster in this process. `tests/hosted/scaling.real.ts` measures real API servers. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { Pod } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { sleep, systemClock } from '@hangar/core';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { clusterNameLabel, HostedControlPlane } from '../api/index.ts';
import type { AutoscalingSpec } from '../api/index.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';
import type { ScrapeTarget } from './scrape.ts';

const key = { namespace, name: 'demo' };
const patch = (client: Client, body: object) => client.patch(HostedControlPlane, key, { type: 'merge', body });
const reasonOf = ({ status }: HostedControlPlane) => findCondition(status?.conditions, 'AutoscalingActive')?.reason;

const isReady = ({ status, metadata }: HostedControlPlane) =>
  isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation;
/** Events are written later. */
const objectWrites = ({ writes }: TestPlatform) => writes.filter((one) => !one.includes('/events'));

/** API servers whose load the test sets. */
class Servers {
  inFlight = 0;
  failure: Error | undefined;
  readonly targets: ScrapeTarget[] = [];
  #cpuSeconds = 0;

  readonly scrape = (target: ScrapeTarget) => {
    this.targets.push(target);
    if (this.failure) return Promise.reject(this.failure);
    this.#cpuSeconds += 0.001;
    return Promise.resolve({ inFlight: this.inFlight, cpuSeconds: this.#cpuSeconds, buckets: new Map() });
  };

  /** Resolves after further measurements. */
  async measured(times: number): Promise<void> {
    for (const from = this.targets.length; this.targets.length < from + times;) await sleep(systemClock, 5);
  }
}

async function startScaled(servers: Servers, autoscaling: AutoscalingSpec) {
  const times = { periodMs: 20, warmUpMs: 0 };
  const platform = await startTestPlatform({ autoscaling: { ...times, scrape: servers.scrape } });
  const { client } = platform;
  const labels = { [clusterNameLabel]: 'demo', 'app.kubernetes.io/component': 'kube-apiserver' };
  const pod = { namespace, name: 'demo-apiserver-a' };
  await client.create(Pod, { metadata: { ...pod, labels }, spec: { containers: [{ name: 'a', image: 'a' }] } });
  const ready = { type: 'Ready', status: 'True' as const, lastTransitionTime: '2026-01-01T00:00:00Z' };
  const status = { podIP: '127.7.7.7', podIPs: [{ ip: '127.7.7.7' }], conditions: [ready] };
  await client.status.patch(Pod, pod, { type: 'merge', body: { status } });
  const operator = platform.start();
  await client.create(HostedControlPlane, {
    metadata: { ...key },
    spec: { version: 'v1.36.4', replicas: 1, autoscaling },
  });
  await untilReady(client);
  return { platform, client, operator, [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose]() };
}

const quick = { scaleUpDelay: '0s', scaleDownDelay: '100ms' };

test('a load adds API servers, its end removes them, and a stable number causes no writes', async () => {
  const servers = new Servers();
  const spec = { minReplicas: 1, maxReplicas: 3, targetInFlightRequests: 10, ...quick };
  await using scaled = await startScaled(servers, spec);
  const { client, platform, operator } = scaled;
  await untilReason(client, 'AutoscalingActive', 'AtMinimum');
  servers.inFlight = 25;
  const up = await until(client, 'demo', ({ spec: { replicas } }) => replicas === 3);
  const owner = up.metadata.managedFields?.find(({ manager }) => manager === 'hangar-hosted-autoscaler');
  assert.deepEqual(owner?.fieldsV1, { 'f:spec': { 'f:replicas': {} } });
  const { status } = await until(client, 'demo', (one) => reasonOf(one) === 'WithinBounds' && isReady(one));
  assert.equal(status!.autoscaling!.desiredReplicas, 3);
  assert.equal(status!.autoscaling!.lastScaleLoad!.inFlightRequests, '25');
  await servers.measured(3);
  platform.forget();
  await servers.measured(10);
  assert.deepEqual(objectWrites(platform), []);
  const figures = operator.metrics.text();
  assert.match(figures, /autoscaling_replicas\{namespace="team",name="demo",state="recommended"\} 3/);
  assert.match(figures, /autoscaling_in_flight_requests\{namespace="team",name="demo"\} 25/);
  assert.match(figures, /hangar_hosted_scalings_total\{direction="up"\} 1/);
  servers.inFlight = 1;
  await until(client, 'demo', (one) => one.spec.replicas === 1 && reasonOf(one) === 'AtMinimum');
  assert.match(operator.metrics.text(), /hangar_hosted_scalings_total\{direction="down"\} 2/);
});

test('Events report each change', async () => {
  const servers = new Servers();
  servers.inFlight = 25;
  await using scaled = await startScaled(servers, { maxReplicas: 3, targetInFlightRequests: 10, ...quick });
  const { client } = scaled;
  const options = { namespace, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const };
  const notes: string[] = [];
  for await (const event of client.watch(Event, options)) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    const { reason, note = '' } = event.object;
    if (reason === 'ScaledUp' && !notes.includes(note)) notes.push(note);
    if (notes.length === 2) break;
  }
  assert.deepEqual(notes, [
    'changed the number of API servers from 1 to 2',
    'changed the number of API servers from 2 to 3',
  ]);
});

test('without measurements only bounds apply, the condition has the error, and a recovery is reported', async () => {
  const servers = new Servers();
  servers.failure = new Error('connect ECONNREFUSED 127.7.7.7:6443');
  await using scaled = await startScaled(servers, { minReplicas: 2, maxReplicas: 4, ...quick });
  const { client, platform } = scaled;
  const { spec, status } = await untilReason(client, 'AutoscalingActive', 'MetricsUnavailable');
  assert.equal(spec.replicas, 2, 'the minimum');
  const { status: active, message } = findCondition(status!.conditions, 'AutoscalingActive')!;
  assert.equal(active, 'False');
  assert.match(message, /^Pod "demo-apiserver-a" cannot be measured: connect ECONNREFUSED/);
  await until(client, 'demo', isReady);
  await servers.measured(3);
  platform.forget();
  servers.failure = new Error('another error');
  await servers.measured(10);
  assert.deepEqual(objectWrites(platform), []);
  await client.subresource('scale').patch(HostedControlPlane, key, { type: 'merge', body: { spec: { replicas: 9 } } });
  await until(client, 'demo', ({ spec: { replicas } }) => replicas === 4);
  servers.failure = undefined;
  await until(client, 'demo', (one) => reasonOf(one) === 'AtMinimum' && one.spec.replicas === 2);
});

test('API servers are measured by the address of their pod, as a user that can read metrics', async () => {
  const servers = new Servers();
  await using scaled = await startScaled(servers, { maxReplicas: 2 });
  await until(scaled.client, 'demo', (one) => reasonOf(one) !== undefined);
  const { host, port, serverName, authority, credentials } = servers.targets[0]!;
  assert.deepEqual([host, port, serverName], ['127.7.7.7', 6443, 'apiserver-demo.team.svc']);
  assert.match(authority, /BEGIN CERTIFICATE/);
  const { subject } = new X509Certificate(credentials.certificate);
  assert.match(subject, /O=system:monitoring/);
  assert.ok(!subject.includes('system:masters'));
  assert.equal(servers.targets.at(-1)!.credentials, credentials, 'issued once');
});

test('without spec.autoscaling, or paused, nothing is measured, and nothing remains', async () => {
  const servers = new Servers();
  servers.inFlight = 500;
  await using scaled = await startScaled(servers, { maxReplicas: 2, ...quick });
  const { client, operator } = scaled;
  await until(client, 'demo', (one) => reasonOf(one) === 'AtMaximum' && one.status?.autoscaling !== undefined);
  await patch(client, { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } });
  await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'Paused')?.status === 'True');
  assert.ok(!operator.metrics.text().includes('autoscaling_replicas{'));
  await patch(client, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
  await servers.measured(2);
  await patch(client, { spec: { autoscaling: null } });
  const { status } = await until(client, 'demo', (one) => reasonOf(one) === undefined);
  assert.equal(status!.autoscaling, undefined);
  assert.ok(!operator.metrics.text().includes('autoscaling_replicas{'));
});

test('while etcd lacks members, the number does not change', async () => {
  const servers = new Servers();
  servers.inFlight = 15;
  const spec = { minReplicas: 1, maxReplicas: 4, targetInFlightRequests: 10, ...quick };
  await using scaled = await startScaled(servers, spec);
  const { client, platform } = scaled;
  const { workloads } = platform;
  const replicas = async () => (await client.get(HostedControlPlane, key)).spec.replicas;
  await until(client, 'demo', (one) => one.spec.replicas === 2 && isReady(one));
  workloads.ready.set('demo-etcd', 2);
  await workloads.refresh();
  await untilReason(client, 'EtcdClusterReady', 'MembersNotReady');
  servers.inFlight = 35;
  await servers.measured(10);
  assert.equal(await replicas(), 2, 'none is added');
  servers.inFlight = 1;
  await servers.measured(15);
  assert.equal(await replicas(), 2, 'none is removed');
  workloads.ready.clear();
  await workloads.refresh();
  await until(client, 'demo', (one) => one.spec.replicas === 1 && isReady(one));
});

/** The metrics of hosted control planes: from the results of reconciles, and removed with the object. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MetricsRegistry } from '@hangar/runtime';
import { HostedControlPlane, rotateAnnotation } from '../api/index.ts';
import { AutoscalingMetrics } from '../metrics/autoscaling-metrics.ts';
import { EtcdMetrics } from '../metrics/etcd-metrics.ts';
import { HostedMetrics } from '../metrics/hosted-metrics.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { RunningOperator } from '../testing/platform.ts';
import { ShiftedClock } from '../testing/shifted-clock.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';
import { secondsToReady } from './figures.ts';
import { phases } from './conditions.ts';

const key = { namespace, name: 'demo' };

/** The series of our metrics without their common labels, by name. */
function seriesOf({ metrics }: Pick<RunningOperator, 'metrics'>): Map<string, number> {
  const found = new Map<string, number>();
  for (const [, name, labels = '', value] of metrics.text().matchAll(/^hangar_hosted_(\w+)(\{.*\})? (\S+)$/gm)) {
    found.set(`${name}${labels.replace('namespace="team",name="demo",', '')}`, Number(value));
  }
  return found;
}

test('a control plane has its figures, and causes no requests for them', async () => {
  const clock = new ShiftedClock();
  await using platform = await startTestPlatform({ clock });
  const operator = platform.start();
  const { client, workloads } = platform;
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 3 } });
  await untilReady(client);
  await platform.quiet();
  platform.forget();
  const series = seriesOf(operator);
  assert.deepEqual(platform.requests, []);
  const condition = (type: string) => series.get(`control_plane_condition{condition="${type}"}`);
  assert.deepEqual(['Ready', 'Available', 'RollingOut', 'Paused'].map(condition), [1, 1, 0, 0]);
  const info = 'control_plane_info{version="v1.36.4",desired_version="v1.36.4",rendering="1"}';
  assert.equal(series.get(info), 1);
  const counts = (of: string, states: string[]) => states.map((one) => series.get(`${of}{state="${one}"}`));
  assert.deepEqual(counts('control_plane_api_servers', ['desired', 'ready', 'available', 'updated']), [3, 3, 3, 3]);
  assert.deepEqual(counts('control_plane_etcd_members', ['desired', 'ready']), [3, 3]);
  for (const [name, days] of Object.entries({ ca: 3650, etcd: 3650, proxy: 3650, components: 365, kubeconfig: 30 })) {
    const at = series.get(`control_plane_certificate_expiration_timestamp_seconds{certificate="${name}"}`)!;
    assert.equal(Math.round((at - Date.now() / 1_000) / 86_400), days, name);
  }
  assert.equal(series.get('ready_duration_seconds_count'), 1);
  for (const phase of phases) assert.ok(series.get(`phase_duration_seconds_count{phase="${phase}"}`)! >= 1, phase);

  // Conditions have times in seconds.
  clock.aheadDays = 1 / 24;
  workloads.ready.set('demo-etcd', 1);
  await workloads.refresh();
  await untilReason(client, 'EtcdClusterReady', 'QuorumLost');
  const lost = seriesOf(operator);
  assert.equal(lost.get('control_plane_blocked{phase="EtcdClusterReady",reason="QuorumLost"}'), 1);
  assert.equal(lost.get('control_plane_etcd_members{state="ready"}'), 1);
  assert.equal(lost.get('control_plane_condition{condition="Ready"}'), 0);
  const kubeconfig = 'control_plane_certificate_expiration_timestamp_seconds{certificate="kubeconfig"}';
  assert.equal(lost.get(kubeconfig), series.get(kubeconfig), 'also of phases that were not reached');
  workloads.ready.clear();
  await workloads.refresh();
  await untilReady(client);
  await platform.quiet();
  const again = seriesOf(operator);
  assert.deepEqual(
    [...again.keys()].filter((name) => name.startsWith('control_plane_blocked')),
    [],
  );
  assert.equal(again.get('ready_duration_seconds_count'), 1, 'only the first time counts');
});

test('a deleted control plane has no series', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1 } });
  await untilReady(client);
  await client.delete(HostedControlPlane, key);
  await platform.quiet();
  assert.ok(!operator.metrics.text().includes('name="demo"'));
});

test('a fault of the object itself blocks before the phases, and steps of rotations are counted', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.20.0', replicas: 1 } });
  await untilReason(client, 'Ready', 'UnsupportedVersion');
  assert.equal(seriesOf(operator).get('control_plane_blocked{phase="Preconditions",reason="UnsupportedVersion"}'), 1);
  await client.delete(HostedControlPlane, key);
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1 } });
  await untilReady(client);
  const body = { metadata: { annotations: { [rotateAnnotation('etcd')]: 'now' } } };
  await client.patch(HostedControlPlane, key, { type: 'merge', body });
  await until(client, 'demo', () =>
    ['started', 'signing', 'complete'].every(
      (step) => seriesOf(operator).get(`rotation_steps_total{signer="etcd",step="${step}"}`) === 1,
    ),
  );
});

test('the first Ready is the one whose condition is as old as the oldest one', () => {
  const condition = (type: string, status: 'True' | 'False', lastTransitionTime: string) => ({
    type,
    status,
    lastTransitionTime,
    reason: 'X',
    message: '',
  });
  const object = (readySince: string) =>
    ({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: {
        conditions: [
          condition('CABundleReady', 'True', '2026-01-01T00:00:01Z'),
          condition('Ready', 'False', readySince),
        ],
      },
    }) as unknown as HostedControlPlane;
  const after = { conditions: [condition('Ready', 'True', '2026-01-01T00:01:00Z')] };
  const nowMs = Date.parse('2026-01-01T00:01:00Z');
  assert.equal(secondsToReady(object('2026-01-01T00:00:01Z'), after, nowMs), 60);
  assert.equal(secondsToReady(object('2026-01-01T00:00:30Z'), after, nowMs), undefined);
  const stillWaiting = { conditions: [condition('Ready', 'False', '2026-01-01T00:00:01Z')] };
  assert.equal(secondsToReady(object('2026-01-01T00:00:01Z'), stillWaiting, nowMs), undefined);
});

test('the documentation lists exactly the metrics of the operator', () => {
  const registry = new MetricsRegistry();
  const metrics = new HostedMetrics(registry);
  metrics.remove(key);
  new AutoscalingMetrics(registry).remove(key);
  new EtcdMetrics(registry).remove(key);
  const names = Array.from(registry.text().matchAll(/^# TYPE (\S+) /gm), ([, name]) => name!).sort();
  const page = readFileSync(new URL('../../../../docs/operations/monitoring.md', import.meta.url), 'utf8');
  const documented = Array.from(page.matchAll(/^\| `(hangar_hosted_\w+)` \|/gm), ([, name]) => name!).sort();
  assert.deepEqual(documented, names);
});

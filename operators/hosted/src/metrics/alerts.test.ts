import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { MetricsRegistry } from '@hangar/runtime';
import { startTestPlatform } from '../testing/platform.ts';
import { alertGroups, ruleGroups, runbookPage } from './alerts.ts';
import { AutoscalingMetrics } from './autoscaling-metrics.ts';
import { EtcdMetrics } from './etcd-metrics.ts';
import { HostedMetrics } from './hosted-metrics.ts';

const read = (file: string): string => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
const alerts = alertGroups.flatMap((group) => group.alerts);

/** The metrics of the operator with the names of their labels. */
function labelsByMetric(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, metric, labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const names = Array.from(labels.matchAll(/(\w+)="/g), ([, name]) => name!);
    found.set(metric!, new Set([...(found.get(metric!) ?? []), ...names]));
  }
  return found;
}

/** Metrics of a registry in which every family has a series. */
function observed(registry: MetricsRegistry): void {
  const metrics = new HostedMetrics(registry);
  metrics.observe(
    { namespace: 'team', name: 'demo' },
    {
      conditions: { Ready: true },
      blocked: { phase: 'CABundleReady', reason: 'ObjectConflict' },
      info: { version: '', desired_version: '', rendering: '' },
      apiServers: { desired: 1 },
      etcdMembers: { desired: 1 },
      expirations: new Map([['ca', 1]]),
    },
  );
  metrics.phaseFailed('CABundleReady');
  new EtcdMetrics(registry).observe(
    { namespace: 'team', name: 'demo' },
    {
      database: { size: 1, in_use: 1, quota: 1 },
      volumeBytes: 1,
      secondsUntilFull: 1,
      isHealthy: new Map([['demo-etcd-0', true]]),
      hasLeader: true,
      isDefragmentationFailing: false,
    },
  );
  const autoscaling = new AutoscalingMetrics(registry);
  autoscaling.observe({ namespace: 'team', name: 'demo' }, { replicas: { max: 1 }, unmeasured: 0 });
}

test('expressions use only metrics and labels that the operator has', async () => {
  await using platform = await startTestPlatform();
  const { metrics } = platform.start();
  observed(metrics);
  const known = labelsByMetric(metrics.text());
  // Only with leader election.
  known.set('leader_election_master_status', new Set(['name']));
  let selectors = 0;
  for (const { alert, expr } of alerts) {
    for (const [, metric, matchers = ''] of expr.matchAll(/\b((?:hangar|controller|leader)_\w+)(?:\{([^}]*)\})?/g)) {
      selectors++;
      assert.ok(known.has(metric!), `${alert}: ${metric} does not exist`);
      for (const [, label] of matchers.matchAll(/(\w+)[=!]/g)) {
        assert.ok(known.get(metric!)!.has(label!), `${alert}: ${metric} has no label ${label}`);
      }
    }
  }
  assert.ok(selectors > alerts.length);
});

test('each alert has a section in troubleshooting and a row in monitoring', () => {
  const headings = Array.from(read(runbookPage).matchAll(/^### (Hosted\w+)$/gm), ([, heading]) => heading!);
  const names = alerts.map(({ alert }) => alert);
  assert.deepEqual(headings, names);
  const rows = read('docs/operations/monitoring.md').matchAll(/^\| \[`(Hosted\w+)`\]\(\S+\) \| (\w+) \|/gm);
  assert.deepEqual(
    Array.from(rows, ([, name, severity]) => [name, severity]),
    alerts.map(({ alert, severity }) => [alert, severity]),
  );
  for (const { rules } of ruleGroups()) {
    for (const { alert, annotations } of rules) {
      assert.equal(annotations.runbook_url, `docs/troubleshooting.md#${alert.toLowerCase()}`);
    }
  }
});

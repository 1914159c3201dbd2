import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MetricsRegistry } from '@hangar/runtime';
import { alertGroups, runbookPage } from './alerts.ts';
import { BackupMetrics } from './backup-metrics.ts';

const read = (file: string): string => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
const alerts = alertGroups.flatMap((group) => group.alerts);
const name = { namespace: 'team', name: 'nightly' };

function observed(): { metrics: BackupMetrics; text: () => string } {
  const registry = new MetricsRegistry();
  const metrics = new BackupMetrics(registry);
  metrics.started();
  metrics.completed({ durationMs: 1_500, sizeBytes: 2_048 });
  metrics.attemptFailed('StorageFull');
  metrics.restored('Complete');
  metrics.observeSchedule(name, { intervalMs: 3_600_000, failing: 1, lastSuccess: new Map([['demo', 1_000]]) });
  metrics.observeDrill(name, { isSuccess: false, completedMs: 2_000 });
  return { metrics, text: () => registry.text() };
}

test('the metrics of a schedule have its labels, and are removed with it', () => {
  const { metrics, text } = observed();
  const lines = [
    'hangar_backup_schedule_interval_seconds{namespace="team",schedule="nightly"} 3600',
    'hangar_backup_schedule_failing{namespace="team",schedule="nightly"} 1',
    'hangar_backup_last_success_timestamp_seconds{namespace="team",schedule="nightly",control_plane="demo"} 1',
    'hangar_backup_drill_success{namespace="team",schedule="nightly"} 0',
    'hangar_backup_drill_timestamp_seconds{namespace="team",schedule="nightly"} 2',
    'hangar_backup_failures_total{reason="StorageFull"} 1',
    'hangar_backup_stored_bytes_total 2048',
    'hangar_backup_running 1',
  ];
  for (const line of lines) assert.ok(text().includes(`${line}\n`), line);
  metrics.forgetSchedule(name);
  assert.ok(!text().includes('nightly'));
});

test('expressions use only metrics that the operator has', () => {
  const text = observed().text();
  for (const { alert, expr } of alerts) {
    for (const [metric] of expr.matchAll(/\bhangar_\w+/g))
      assert.ok(text.includes(`\n${metric}{`), `${alert}: ${metric}`);
  }
});

test('each alert has a section in troubleshooting and a row in monitoring, and each metric a row', () => {
  const headings = Array.from(read(runbookPage).matchAll(/^### (Backup\w+)$/gm), ([, heading]) => heading!);
  assert.deepEqual(
    headings,
    alerts.map(({ alert }) => alert),
  );
  const page = read('docs/operations/monitoring.md');
  assert.deepEqual(
    Array.from(page.matchAll(/^\| \[`(Backup\w+)`\]\(\S+\) \| (\w+) \|/gm), ([, alert, severity]) => [alert, severity]),
    alerts.map(({ alert, severity }) => [alert, severity]),
  );
  const metrics = Array.from(
    observed()
      .text()
      .matchAll(/^# TYPE (\w+)/gm),
    ([, metric]) => metric!,
  );
  assert.deepEqual(
    metrics.filter((metric) => !page.includes(`| \`${metric}\` |`)),
    [],
  );
});

/** The alert rules with the real promtool: each alert fires for its series, and does not fire for others. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { tool } from '../../../../tools/tool.ts';
import { alertGroups } from './alerts.ts';

const run = promisify(execFile);
const rules = fileURLToPath(new URL('../../../../deploy/monitoring/backups.rules.yaml', import.meta.url));

/** Values of each minute by series, in the notation of promtool. Time starts at 0. */
type Series = Readonly<Record<string, string>>;

const gauge = (name: string, labels = ''): string =>
  `hangar_backup_${name}{namespace="team",schedule="nightly"${labels && `,${labels}`}}`;
const interval = { [gauge('schedule_interval_seconds')]: '3600x300' };
const success = (values: string): Series => ({
  [gauge('last_success_timestamp_seconds', 'control_plane="demo"')]: values,
});
const operator = 'controller_runtime_max_concurrent_reconciles{controller="controlplanebackupschedule"}';

const cases: Readonly<Record<string, { at: string; fires: Series; quiet: readonly Series[] }>> = {
  BackupTooOld: {
    at: '135m',
    fires: { ...success('0x300'), ...interval },
    quiet: [{ ...success('1800x300'), ...interval }, success('0x300'), interval],
  },
  BackupFailing: {
    at: '16m',
    fires: { [gauge('schedule_failing')]: '2x300' },
    quiet: [{ [gauge('schedule_failing')]: '0x300' }, { [gauge('schedule_failing')]: '1x10 0x300' }],
  },
  BackupDrillFailed: {
    at: '3m',
    fires: { [gauge('drill_success')]: '0x300' },
    quiet: [{ [gauge('drill_success')]: '1x300' }, {}],
  },
  BackupOperatorDown: { at: '6m', fires: {}, quiet: [{ [operator]: '2x300' }] },
};

const testsOf = (alert: string) => {
  const { at, fires, quiet } = cases[alert]!;
  return [fires, ...quiet].map((series, nth) => ({
    name: `${alert} ${nth === 0 ? 'fires' : `does not fire, ${nth}`}`,
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: at,
        exp_samples: nth === 0 ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  }));
};

test('promtool: each alert fires for its series, and for no others', async () => {
  const names = alertGroups.flatMap(({ alerts }) => alerts.map(({ alert }) => alert));
  assert.deepEqual(Object.keys(cases), names);
  const folder = await mkdtemp(join(tmpdir(), 'hangar-backup-alerts-'));
  try {
    await copyFile(rules, join(folder, 'rules.yaml'));
    const file = join(folder, 'tests.yaml');
    const tests = names.flatMap(testsOf);
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    const { stdout } = await run(await tool('promtool'), ['check', 'rules', rules]);
    assert.match(stdout, new RegExp(`SUCCESS: ${names.length} rules found`));
    await run(await tool('promtool'), ['test', 'rules', file]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

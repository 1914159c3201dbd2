/** The alert rules with the real promtool: each alert fires for its series, and does not fire for others. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { tool } from '../../../../tools/tool.ts';
import { alertGroups } from './alerts.ts';

const run = promisify(execFile);
const rules = fileURLToPath(new URL('../../../../deploy/monitoring/hosted-control-planes.rules.yaml', import.meta.url));

/** Values of each minute by series, in the notation of promtool. */
type Series = Readonly<Record<string, string>>;

const gauge = (name: string, labels = ''): string =>
  `hangar_hosted_control_plane_${name}{namespace="team",name="demo"${labels && `,${labels}`}}`;
const condition = (type: string): string => gauge('condition', `condition="${type}"`);
const members = (ready: string, desired: number): Series => ({
  [gauge('etcd_members', 'state="ready"')]: ready,
  [gauge('etcd_members', 'state="desired"')]: `${desired}x200`,
});
const info = (version: string): Series => ({ [gauge('info', `version="${version}"`)]: '1x200' });
const paused = { [condition('Paused')]: '1x200' };
const expires = (certificate: string, days: number): Series => ({
  [gauge('certificate_expiration_timestamp_seconds', `certificate="${certificate}"`)]: `${days * 86_400}x200`,
});
const apiServers = (updated: string): Series => ({
  [gauge('api_servers', 'state="updated"')]: updated,
  [gauge('api_servers', 'state="desired"')]: '3x200',
});
const scaling = (recommended: string): Series => ({
  [gauge('autoscaling_replicas', 'state="recommended"')]: recommended,
  [gauge('autoscaling_replicas', 'state="max"')]: '4x200',
});
const database = (size: string, inUse: string): Series => ({
  [gauge('etcd_database_bytes', 'state="size"')]: size,
  [gauge('etcd_database_bytes', 'state="in_use"')]: inUse,
});
const concurrency = 'controller_runtime_max_concurrent_reconciles{controller="hostedcontrolplane"}';
const leads = (instance: string): string =>
  `leader_election_master_status{name="hangar-hosted-operator",instance="${instance}"}`;
const errors = 'hangar_hosted_reconcile_errors_total{phase="EtcdClusterReady"}';

interface AlertCase {
  /** Of the evaluation. */
  readonly at: string;
  readonly fires: Series;
  /** None of them fires. */
  readonly quiet: readonly Series[];
}

const cases: Readonly<Record<string, AlertCase>> = {
  HostedControlPlaneNotReady: {
    at: '16m',
    fires: { [condition('Ready')]: '0x200' },
    quiet: [
      { [condition('Ready')]: '0x10 1 0x200' },
      { [condition('Ready')]: '1x200' },
      { [condition('Ready')]: '0x200', ...paused },
    ],
  },
  HostedControlPlaneNotAvailable: {
    at: '3m',
    fires: { [condition('Available')]: '0x200', ...info('v1.36.4') },
    quiet: [
      { [condition('Available')]: '0x200', ...info('') },
      { [condition('Available')]: '1x200', ...info('v1.36.4') },
      { [condition('Available')]: '0x200', ...info('v1.36.4'), ...paused },
    ],
  },
  HostedControlPlaneEtcdMembersMissing: {
    at: '11m',
    fires: members('2x200', 3),
    quiet: [members('3x200', 3), members('2x5 3x200', 3)],
  },
  HostedControlPlaneEtcdQuorumLost: {
    at: '3m',
    fires: { ...members('1x200', 3), ...info('v1.36.4') },
    quiet: [
      { ...members('2x200', 3), ...info('v1.36.4') },
      { ...members('0x200', 3), ...info('') },
    ],
  },
  HostedControlPlaneCertificateExpiresSoon: {
    at: '61m',
    fires: expires('kubeconfig', 6),
    quiet: [expires('kubeconfig', 8), expires('ca', 6)],
  },
  HostedControlPlaneAuthorityExpiresSoon: {
    at: '61m',
    fires: expires('etcd', 59),
    quiet: [expires('etcd', 61), expires('components', 20)],
  },
  HostedControlPlaneRolloutStuck: {
    at: '31m',
    fires: apiServers('1x200'),
    quiet: [apiServers('3x200'), apiServers('1x20 3x200'), { ...apiServers('1x200'), ...paused }],
  },
  HostedControlPlaneRotationStuck: {
    at: '121m',
    fires: { [condition('CertificatesRotating')]: '1x200' },
    quiet: [{ [condition('CertificatesRotating')]: '0x200' }, { [condition('CertificatesRotating')]: '1x100 0x100' }],
  },
  HostedControlPlaneEtcdNoSpace: {
    at: '6m',
    fires: { [gauge('blocked', 'phase="EtcdClusterReady",reason="NoSpace"')]: '1x200' },
    quiet: [
      { [gauge('blocked', 'phase="EtcdClusterReady",reason="MembersNotReady"')]: '1x200' },
      { [gauge('blocked', 'phase="EtcdClusterReady",reason="NoSpace"')]: '1x3 stale' },
    ],
  },
  HostedControlPlaneEtcdFullSoon: {
    at: '31m',
    fires: { [gauge('etcd_full_seconds')]: '80000x200' },
    quiet: [{ [gauge('etcd_full_seconds')]: '90000x200' }, { [gauge('etcd_full_seconds')]: '80000x20 stale' }, {}],
  },
  HostedControlPlaneEtcdFragmented: {
    at: '181m',
    fires: database('300000000x200', '100000000x200'),
    quiet: [
      database('300000000x200', '200000000x200'),
      database('200000000x200', '10000000x200'),
      database('300000000x100 100000000x100', '100000000x200'),
    ],
  },
  HostedControlPlaneEtcdDefragmentationFailing: {
    at: '61m',
    fires: { [gauge('etcd_defragmentation_failing')]: '1x200' },
    quiet: [
      { [gauge('etcd_defragmentation_failing')]: '0x200' },
      { [gauge('etcd_defragmentation_failing')]: '1x30 0x200' },
    ],
  },
  HostedControlPlaneEtcdMemberUnhealthy: {
    at: '11m',
    fires: { [gauge('etcd_member_healthy', 'member="demo-etcd-1"')]: '0x200' },
    quiet: [
      { [gauge('etcd_member_healthy', 'member="demo-etcd-1"')]: '1x200' },
      { [gauge('etcd_member_healthy', 'member="demo-etcd-1"')]: '0x5 1x200' },
    ],
  },
  HostedControlPlaneEtcdNoLeader: {
    at: '3m',
    fires: { [gauge('etcd_has_leader')]: '0x200' },
    quiet: [{ [gauge('etcd_has_leader')]: '1x200' }, { [gauge('etcd_has_leader')]: '0 1x200' }],
  },
  HostedControlPlaneAutoscalerAtMaximum: {
    at: '31m',
    fires: scaling('5x200'),
    quiet: [scaling('4x200'), scaling('5x20 4x200')],
  },
  HostedControlPlaneAutoscalerInactive: {
    at: '16m',
    fires: { [condition('AutoscalingActive')]: '0x200' },
    quiet: [{ [condition('AutoscalingActive')]: '1x200' }, { [condition('AutoscalingActive')]: '0x200', ...paused }],
  },
  HostedOperatorDown: { at: '6m', fires: {}, quiet: [{ [concurrency]: '10x200' }] },
  HostedOperatorWithoutLeader: {
    at: '6m',
    fires: { [leads('a')]: '0x200', [leads('b')]: '0x200' },
    quiet: [{ [leads('a')]: '0x200', [leads('b')]: '1x200' }, {}],
  },
  HostedOperatorReconcileErrors: { at: '40m', fires: { [errors]: '0+1x200' }, quiet: [{ [errors]: '3x200' }] },
};

const inputs = (series: Series): object[] => Object.entries(series).map(([name, values]) => ({ series: name, values }));

/** The number of firing alerts of that name. */
const firing = (alert: string, at: string, count: number): object => ({
  expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
  eval_time: at,
  exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
});

const testsOf = ([alert, { at, fires, quiet }]: readonly [string, AlertCase]): object[] =>
  [fires, ...quiet].map((series, nth) => ({
    name: `${alert} ${nth === 0 ? 'fires' : `does not fire, ${nth}`}`,
    interval: '1m',
    input_series: inputs(series),
    promql_expr_test: [firing(alert, at, nth === 0 ? 1 : 0)],
  }));

describe('the alert rules', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-alerts-'));
    await copyFile(rules, join(folder, 'rules.yaml'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Rejects with the report of promtool. JSON is YAML. */
  async function testRules(tests: readonly object[]): Promise<void> {
    const file = join(folder, 'tests.yaml');
    await writeFile(file, JSON.stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    await run(await tool('promtool'), ['test', 'rules', file]);
  }

  test('promtool accepts all of them', async () => {
    const { stdout } = await run(await tool('promtool'), ['check', 'rules', rules]);
    const count = alertGroups.flatMap(({ alerts }) => alerts).length;
    assert.match(stdout, new RegExp(`SUCCESS: ${count} rules found`));
  });

  test('each alert fires for its series, and for no others', async () => {
    const names = alertGroups.flatMap(({ alerts }) => alerts.map(({ alert }) => alert));
    assert.deepEqual(Object.keys(cases), names);
    await testRules(Object.entries(cases).flatMap(testsOf));
  });

  test('the annotations have the counts', async () => {
    const alert = 'HostedControlPlaneEtcdMembersMissing';
    const description = '2 of 3 etcd members are ready. The loss of further members stops the control plane.';
    const expected = {
      exp_labels: { namespace: 'team', name: 'demo', severity: 'warning' },
      exp_annotations: {
        summary: 'etcd of HostedControlPlane team/demo lacks members.',
        description,
        runbook_url: `docs/troubleshooting.md#${alert.toLowerCase()}`,
      },
    };
    const rule = { eval_time: '11m', alertname: alert, exp_alerts: [expected] };
    const input = { interval: '1m', input_series: inputs(members('2x200', 3)), alert_rule_test: [rule] };
    await testRules([input]);
    const wrong = { ...rule, exp_alerts: [] };
    await assert.rejects(testRules([{ ...input, alert_rule_test: [wrong] }]), /FAILED/);
  });
});

/**
 * The alert rules of hosted control planes, declared once. `npm run generate -- alerts` writes them as a rules file of Prometheus and as a
 * PrometheusRule of the Prometheus operator. `docs/troubleshooting.md` has a section for each alert, which its runbook names.
 */

import { alertRuleGroups } from '@hangar/runtime';
import type { Alert, AlertGroup } from '@hangar/runtime';

const gauge = (name: string, selector = ''): string => `hangar_hosted_control_plane_${name}${selector}`;
const condition = (type: string): string => gauge('condition', `{condition="${type}"}`);
const daySeconds = 86_400;
const plane = 'HostedControlPlane {{ $labels.namespace }}/{{ $labels.name }}';

/** The status of a paused control plane is not updated. */
const unlessPaused = (expr: string): string => `(${expr}) unless on (namespace, name) (${condition('Paused')} == 1)`;
/** A control plane that was complete once. */
const wasComplete = (expr: string): string => `(${expr}) and on (namespace, name) ${gauge('info', '{version!=""}')}`;
const expiresWithin = (certificates: string, days: number): string =>
  `${gauge('certificate_expiration_timestamp_seconds', `{certificate=~"${certificates}"}`)} - time() < ${days * daySeconds}`;
const counts = (name: string, of: string): string =>
  `{{ $value }} of {{ with printf "${gauge(name)}{namespace='%s',name='%s',state='desired'}" $labels.namespace $labels.name | query }}{{ . | first | value }}{{ end }} ${of}`;

const controlPlanes: readonly Alert[] = [
  {
    alert: 'HostedControlPlaneNotReady',
    expr: unlessPaused(`${condition('Ready')} == 0`),
    for: '15m',
    severity: 'warning',
    summary: `${plane} is not ready.`,
    description: `A phase of ${plane} has not been complete for 15 minutes. Its condition Ready has the reason.`,
  },
  {
    alert: 'HostedControlPlaneNotAvailable',
    expr: unlessPaused(wasComplete(`${condition('Available')} == 0`)),
    for: '2m',
    severity: 'critical',
    summary: `${plane} has no available API server.`,
    description: `Clients and nodes of ${plane} cannot reach an API server.`,
  },
  {
    alert: 'HostedControlPlaneEtcdMembersMissing',
    expr: `${gauge('etcd_members', '{state="ready"}')} < ignoring (state) ${gauge('etcd_members', '{state="desired"}')}`,
    for: '10m',
    severity: 'warning',
    summary: `etcd of ${plane} lacks members.`,
    description: `${counts('etcd_members', 'etcd members are ready')}. The loss of further members stops the control plane.`,
  },
  {
    alert: 'HostedControlPlaneEtcdQuorumLost',
    expr: wasComplete(
      `2 * ${gauge('etcd_members', '{state="ready"}')} <= ignoring (state) ${gauge('etcd_members', '{state="desired"}')}`,
    ),
    for: '2m',
    severity: 'critical',
    summary: `etcd of ${plane} has lost its quorum.`,
    description: `No majority of the etcd members of ${plane} is ready. API servers reject all writes.`,
  },
  {
    alert: 'HostedControlPlaneCertificateExpiresSoon',
    expr: expiresWithin('components|kubeconfig', 7),
    for: '1h',
    severity: 'warning',
    summary: `A certificate of ${plane} expires soon.`,
    description: `A certificate of the group {{ $labels.certificate }} expires in {{ $value | humanizeDuration }}. The operator renews certificates earlier, so something prevents it.`,
  },
  {
    alert: 'HostedControlPlaneAuthorityExpiresSoon',
    expr: expiresWithin('ca|etcd|proxy', 60),
    for: '1h',
    severity: 'warning',
    summary: `An authority of ${plane} expires soon.`,
    description: `The authority {{ $labels.certificate }} expires in {{ $value | humanizeDuration }}. The operator rotates the authorities that it created; others must be rotated by their owner.`,
  },
  {
    alert: 'HostedControlPlaneRolloutStuck',
    expr: unlessPaused(
      `${gauge('api_servers', '{state="updated"}')} < ignoring (state) ${gauge('api_servers', '{state="desired"}')}`,
    ),
    for: '30m',
    severity: 'warning',
    summary: `The roll-out of ${plane} does not continue.`,
    description: `${counts('api_servers', 'API servers are up to date')} for 30 minutes.`,
  },
  {
    alert: 'HostedControlPlaneRotationStuck',
    expr: unlessPaused(`${condition('CertificatesRotating')} == 1`),
    for: '2h',
    severity: 'warning',
    summary: `The rotation of certificates of ${plane} does not continue.`,
    description: `A step of a rotation of ${plane} has not been complete for 2 hours.`,
  },
];

const database = (state: string): string => gauge('etcd_database_bytes', `{state="${state}"}`);

const etcd: readonly Alert[] = [
  {
    alert: 'HostedControlPlaneEtcdNoSpace',
    expr: gauge('blocked', '{reason="NoSpace"}'),
    for: '5m',
    severity: 'critical',
    summary: `${plane} refuses writes, because etcd has no space.`,
    description: `The database of etcd of ${plane} exceeds its quota, or a volume is full, and the operator has not been able to free space for 5 minutes. The condition EtcdClusterReady has the cause.`,
  },
  {
    alert: 'HostedControlPlaneEtcdFullSoon',
    expr: `${gauge('etcd_full_seconds')} < ${daySeconds}`,
    for: '30m',
    severity: 'warning',
    summary: `etcd of ${plane} is full within a day.`,
    description: `At the growth of the last hours, the database of etcd of ${plane} reaches its quota in {{ $value | humanizeDuration }}. It then refuses writes.`,
  },
  {
    alert: 'HostedControlPlaneEtcdFragmented',
    expr: `${database('in_use')} < ignoring (state) 0.4 * ${database('size')} and ignoring (state) ${database('size')} > ${200 * 2 ** 20}`,
    for: '3h',
    severity: 'warning',
    summary: `The database of etcd of ${plane} is fragmented.`,
    description: `Only {{ $value | humanize1024 }}B of the largest database of etcd of ${plane} are in use. The operator defragments members earlier, so something prevents it.`,
  },
  {
    alert: 'HostedControlPlaneEtcdDefragmentationFailing',
    expr: `${gauge('etcd_defragmentation_failing')} == 1`,
    for: '1h',
    severity: 'warning',
    summary: `Defragmentations of etcd of ${plane} fail.`,
    description: `The last defragmentation of a member of etcd of ${plane} failed. The log of the operator has the error.`,
  },
  {
    alert: 'HostedControlPlaneEtcdMemberUnhealthy',
    expr: `${gauge('etcd_member_healthy')} == 0`,
    for: '10m',
    severity: 'warning',
    summary: `An etcd member of ${plane} is not healthy.`,
    description: `The member {{ $labels.member }} of ${plane} does not answer, or does not follow the leader. The loss of further members stops the control plane.`,
  },
  {
    alert: 'HostedControlPlaneEtcdNoLeader',
    expr: `${gauge('etcd_has_leader')} == 0`,
    for: '2m',
    severity: 'critical',
    summary: `etcd of ${plane} has no leader.`,
    description: `The etcd members of ${plane} that answer have not had a leader for 2 minutes. API servers reject all writes.`,
  },
];

const autoscaling: readonly Alert[] = [
  {
    alert: 'HostedControlPlaneAutoscalerAtMaximum',
    expr: `${gauge('autoscaling_replicas', '{state="recommended"}')} > ignoring (state) ${gauge('autoscaling_replicas', '{state="max"}')}`,
    for: '30m',
    severity: 'warning',
    summary: `The load of ${plane} requires more API servers than its maximum.`,
    description: `The autoscaler of ${plane} has reached spec.autoscaling.maxReplicas, and the load is still above its target.`,
  },
  {
    alert: 'HostedControlPlaneAutoscalerInactive',
    expr: unlessPaused(`${condition('AutoscalingActive')} == 0`),
    for: '15m',
    severity: 'warning',
    summary: `The autoscaler of ${plane} has no measurements.`,
    description: `API servers of ${plane} have not been measured for 15 minutes, so their number does not follow the load.`,
  },
];

const operator: readonly Alert[] = [
  {
    alert: 'HostedOperatorDown',
    expr: 'absent(controller_runtime_max_concurrent_reconciles{controller="hostedcontrolplane"})',
    for: '5m',
    severity: 'critical',
    summary: 'The operator of hosted control planes is not running.',
    description:
      'No process reports metrics of the controller of HostedControlPlanes. Control planes continue to run, but are not repaired, and their certificates are not renewed.',
  },
  {
    alert: 'HostedOperatorWithoutLeader',
    expr: 'max(leader_election_master_status{name="hangar-hosted-operator"}) == 0',
    for: '5m',
    severity: 'critical',
    summary: 'No operator of hosted control planes is the leader.',
    description: 'Operators run, but none of them holds the Lease hangar-hosted-operator, so none of them reconciles.',
  },
  {
    alert: 'HostedOperatorReconcileErrors',
    expr: 'sum by (phase) (increase(hangar_hosted_reconcile_errors_total[15m])) > 5',
    for: '15m',
    severity: 'warning',
    summary: 'Reconciles of hosted control planes fail in phase {{ $labels.phase }}.',
    description:
      '{{ $value | humanize }} reconciles failed in the last 15 minutes. The conditions of the control planes with reason ReconcileError have the error.',
  },
];

export const alertGroups: readonly AlertGroup[] = [
  { name: 'hangar-hosted-control-planes', alerts: controlPlanes },
  { name: 'hangar-hosted-etcd', alerts: etcd },
  { name: 'hangar-hosted-autoscaling', alerts: autoscaling },
  { name: 'hangar-hosted-operator', alerts: operator },
];

/** Path of the page with a section for each alert. */
export const runbookPage = 'docs/troubleshooting.md';

/** The groups in the format of Prometheus. */
export const ruleGroups = () => alertRuleGroups(alertGroups, runbookPage);

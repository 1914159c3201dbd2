/** A control plane on one page. */

import type { Condition, EventObject, NodesSettings } from '../kinds.ts';
import { clusterPathOf, isDedicated, servingMode } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { plain } from '../terminal/plain-text.ts';
import { table } from '../terminal/table.ts';
import type { About, Part } from './about.ts';
import { deletionPolicyOf, isByClass } from './deletion-policy.ts';
import { migrationLines } from './migration.ts';
import { ageOf } from './table.ts';

const labelWidth = 16;
const none = '<none>';
const eventsShown = 20;

export function describedPlane(about: About, now: number): string {
  return [
    ...head(about, now),
    ...endpoints(about),
    ...migration(about),
    ...section('Conditions', conditions(about, now)),
    ...section('Registrations', registrations(about)),
    ...(isDedicated(about.plane) ? hosted(about) : tenant(about)),
    ...section('Events', events(about, now)),
    '',
  ].join('\n');
}

const line = (label: string, value: string, indent = ''): string =>
  `${indent}${`${label}:`.padEnd(labelWidth - indent.length)}${plain(value)}`;

function head(about: About, now: number): string[] {
  const { plane, planeClass } = about;
  const { metadata, spec, status } = plane;
  const className = spec?.classRef?.name;
  const isMissing = className !== undefined && 'value' in planeClass && planeClass.value === undefined;
  const secret = status?.kubeconfigSecretRef;
  return [
    line('Name', metadata.name ?? ''),
    line('Mode', servingMode(plane)),
    line('Class', className === undefined ? none : `${className}${isMissing ? ' (does not exist)' : ''}`),
    line('Phase', metadata.deletionTimestamp ? 'Deleting' : (status?.phase ?? 'Pending')),
    ...(isDedicated(plane) ? [] : [line('Path', clusterPathOf(plane))]),
    line('Deletion', deletionText(about)),
    line('Age', ageOf(metadata.creationTimestamp, now)),
    line('Kubeconfig', secret ? `Secret ${secret.namespace}/${secret.name}` : none),
  ];
}

function deletionText({ plane, planeClass, tenant: behind }: About): string {
  const ofClass = valueOf(planeClass);
  const policy = deletionPolicyOf(plane, ofClass, valueOf(behind));
  if (policy === undefined) return 'unknown (by its class, which cannot be read)';
  if (plane.spec?.deletionPolicy) return policy;
  const isDefault = !isByClass(plane) || (ofClass !== undefined && ofClass.spec?.deletionPolicy === undefined);
  return `${policy} (by ${isDefault ? 'default' : 'its class'})`;
}

const valueOf = <T>(found: Part<T>): T | undefined => ('value' in found ? found.value : undefined);

function endpoints({ plane: { status } }: About): string[] {
  const all = status?.endpoints ?? (status?.endpoint ? [{ type: 'Internal', url: status.endpoint }] : []);
  if (all.length === 0) return [line('Endpoints', none)];
  return ['Endpoints:', ...all.map(({ type = '', url = '' }) => line(plain(type), url, '  '))];
}

function migration({ plane: { status } }: About): string[] {
  if (!status?.migration?.id) return [];
  return ['Migration:', ...migrationLines(status.migration).map(([label, value]) => line(label, value, '  '))];
}

function conditions({ plane }: About, now: number): string {
  const rows = (plane.status?.conditions ?? []).map((one: Condition) => [
    one.type,
    one.status,
    one.reason ?? '',
    ageOf(one.lastTransitionTime, now),
    one.message ?? '',
  ]);
  return rows.length === 0 ? '' : table(['TYPE', 'STATUS', 'REASON', 'AGE', 'MESSAGE'], rows);
}

function registrations({ registrations: all }: About): string {
  return ofPart(all, (items) =>
    items.length === 0
      ? ''
      : table(
          ['NAME', 'SERVICES', 'MODE', 'READY'],
          items.map(({ metadata, spec, status }) => [
            metadata.name ?? '',
            (spec?.services ?? []).join(','),
            spec?.mode ?? 'Shared',
            String(status?.ready ?? false),
          ]),
        ),
  );
}

function hosted({ hosted: found }: About): string[] {
  if ('problem' in found) return [line('Hosted', `cannot be read: ${found.problem}`)];
  if (!found.value) return [line('Hosted', none)];
  const { metadata, spec, status } = found.value;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const state = ready?.status === 'True' ? 'Ready' : `${ready?.reason ?? 'Pending'}: ${ready?.message ?? ''}`;
  const version = status?.version ?? 'none yet';
  const wanted = spec?.version === undefined || spec.version === version ? '' : `, upgrading to ${spec.version}`;
  return [
    'Hosted:',
    line('Object', `HostedControlPlane ${metadata.namespace}/${metadata.name}`, '  '),
    line('State', state, '  '),
    line('Version', `${version}${wanted}`, '  '),
    line('API servers', `${status?.readyReplicas ?? 0} of ${spec?.replicas ?? '?'} ready`, '  '),
  ];
}

function tenant({ tenant: found, usage }: About): string[] {
  if ('problem' in found) return [line('Tenant', `cannot be read: ${found.problem}`)];
  if (!found.value) return [line('Tenant', none)];
  const { suspension, hosts = [], nodes } = found.value.spec ?? {};
  const { quarantine, nodes: access } = found.value.status ?? {};
  const lines = ['Tenant:', line('State', suspension ?? (quarantine ? 'Quarantined' : 'Active'), '  ')];
  if (quarantine) lines.push(line('Until', quarantine.until, '  '), line('Reason', quarantine.message, '  '));
  if (nodes?.enabled) lines.push(line('Nodes', nodesText(nodes, access?.endpoint), '  '));
  if (hosts.length > 0) lines.push(line('Hosts', hosts.join(', '), '  '));
  if ('problem' in usage) return [...lines, line('Usage', `cannot be read: ${usage.problem}`, '  ')];
  const { status = {}, spec: { quota = {} } = {} } = usage.value ?? {};
  const of = (limit: string | undefined): string => (limit === undefined ? '' : ` of ${limit}`);
  return [
    ...lines,
    line('Objects', `${status.objects ?? '?'}${of(quota.objects?.toString())}`, '  '),
    line(
      'Stored',
      `${bytesText(status.storedBytes)}${of(quota.storedBytes === undefined ? undefined : bytesText(quota.storedBytes))}`,
      '  ',
    ),
    line('Watches', `${status.watches ?? '?'}${of(quota.watches?.toString())}`, '  '),
    line('Requests', `${status.requests?.read ?? '?'} reads, ${status.requests?.write ?? '?'} writes`, '  '),
  ];
}

function nodesText({ networks = [] }: NodesSettings, endpoint: string | undefined): string {
  const where = endpoint === undefined ? 'at the path of the control plane' : `at ${endpoint}`;
  return `join ${where}; ${networks.length === 0 ? 'no networks for direct connections' : `networks ${networks.join(', ')}`}`;
}

function events({ events: all }: About, now: number): string {
  return ofPart(all, (items) => {
    const rows = items
      .map((event) => ({ event, at: timeOf(event) }))
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
      .slice(-eventsShown)
      .map(({ event, at }) => [
        event.type ?? '',
        event.reason ?? '',
        ageOf(at === '' ? undefined : at, now),
        String(event.series?.count ?? event.count ?? 1),
        event.message ?? '',
      ]);
    return rows.length === 0 ? '' : table(['TYPE', 'REASON', 'AGE', 'COUNT', 'MESSAGE'], rows);
  });
}

const timeOf = ({ series, lastTimestamp, eventTime, metadata }: EventObject): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

const ofPart = <T>(found: Part<T>, text: (value: T) => string): string => {
  if ('problem' in found) return `cannot be read: ${plain(found.problem)}\n`;
  return found.value === undefined ? '' : text(found.value);
};

const section = (title: string, text: string): string[] =>
  text === '' ? [line(title, none)] : [`${title}:`, text.trimEnd().replaceAll(/^/gm, '  ')];

/** A migration of a control plane between modes, as users see it. Pure. */

import type { ControlPlaneObject, Migration } from '../kinds.ts';
import { activeMigration, conditionOf } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { plain } from '../terminal/plain-text.ts';
import type { TenantUsage } from './about.ts';

export const migrationSteps = [
  'Provision',
  'CopyAndFollow',
  'Verify',
  'Switch',
  'Registrations',
  'Decommission',
] as const;

/** Labels and values for `hangar describe`. */
export function migrationLines(migration: Migration): [label: string, value: string][] {
  const { from, to, step = '', outcome, completedAt, message = '', lag, objects, pauseMs, attempts } = migration;
  const state = completedAt === undefined ? step : 'Complete';
  const lines: [string, string | undefined][] = [
    ['Modes', `${from} to ${to}`],
    ['State', outcome === undefined ? state : `${outcome}, ${state}`],
    ['Lag', outcome === undefined && lag !== undefined ? `${lag} revisions` : undefined],
    ['Objects', objects?.toString()],
    ['Pause', pauseMs === undefined ? undefined : `${pauseMs} ms`],
    ['Attempts', attempts?.toString()],
    ['Message', message === '' ? undefined : message],
  ];
  return lines.filter((line): line is [string, string] => line[1] !== undefined);
}

/** Result of waiting for a migration. Undefined: it continues. */
export type MigrationEnd =
  | { readonly type: 'Switched'; readonly migration: Migration }
  | { readonly type: 'Refused'; readonly message: string };

/** Reasons of `ModeReached` that waiting resolves. */
const passing = new Set(['Migrating', 'MigrationDelayed', 'TooManyMigrations', 'NotReady']);

/** `to`: the mode that is waited for. Requests are served by the new side before the old data is deleted. */
export function migrationEnd(plane: ControlPlaneObject, to: Migration['to']): MigrationEnd | undefined {
  const { metadata, status } = plane;
  const { migration } = status ?? {};
  const isServed = migration?.outcome === 'Switched' && migration.step !== 'Switch' && status?.phase !== 'Migrating';
  if (migration?.to === to && isServed) return { type: 'Switched', migration };
  if (migration?.to === to && migration.outcome === 'Aborted' && activeMigration(plane)) {
    return { type: 'Refused', message: `the migration was aborted: ${migration.message ?? ''}` };
  }
  const reached = conditionOf(plane, 'ModeReached');
  const isCurrent = (reached?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (reached?.status !== 'False' || !isCurrent || passing.has(reached.reason ?? '')) return undefined;
  return { type: 'Refused', message: `${reached.reason}: ${reached.message ?? ''}` };
}

/** Steps before the current one, in their order. */
export function completeSteps({ step }: Migration): readonly string[] {
  const current = migrationSteps.findIndex((one) => one === step);
  return current < 0 ? [] : migrationSteps.slice(0, current);
}

/** A new etcd and API server start, then objects are copied. Rough figures. */
const provisionSeconds = 30;
const objectsPerSecond = 2_000;

/** The text of `--plan`. */
export function planText(plane: ControlPlaneObject, to: Migration['to'], usage: TenantUsage | undefined): string {
  const { status, metadata } = plane;
  const { objects, storedBytes } = usage?.status ?? {};
  const isBack = to === 'Virtual';
  const seconds = (isBack ? 0 : provisionSeconds) + Math.ceil((objects ?? 0) / objectsPerSecond) + 15;
  const size = objects === undefined ? 'all objects' : `${objects} objects (${bytesText(storedBytes)})`;
  const steps = isBack
    ? [
        'the tenant prepares to receive the data',
        `${size} are copied from etcd to the shared store, then every change`,
        'both sides are compared',
        'requests wait, usually for less than a second; writes to etcd are fenced; the tenant serves the data',
        'registrations for controllers are used again; the kube-controller-manager and kube-scheduler of the dedicated side stop',
        'the HostedControlPlane is deleted after the grace period',
      ]
    : [
        'a HostedControlPlane is created beside the tenant, with the CAs and keys of the tenant',
        `${size} are copied to its etcd, then every change, with the same revisions`,
        'both sides are compared',
        'requests wait, usually for less than a second; the tenant passes them on to the new API server',
        'registrations for controllers are not used; kube-controller-manager and kube-scheduler of the dedicated side start',
        'the data in the shared store is deleted after the grace period',
      ];
  return [
    `control plane ${plain(metadata.name!)}: ${isBack ? 'Dedicated' : 'Virtual'} to ${to}`,
    '',
    ...steps.map((text, index) => `  ${index + 1}. ${migrationSteps[index]!.padEnd(14)} ${text}`),
    '',
    `  address      ${plain(status?.endpoint ?? '<none>')} (unchanged, as kubeconfigs and credentials)`,
    '  restarts     watches are opened again at their revision; no node and no client has to be changed',
    `  time         about ${seconds} s until the switch`,
    '  abort        possible until the switch; after it, --rollback migrates back',
    '',
  ].join('\n');
}

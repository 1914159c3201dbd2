/** Derives from a ControlPlane and its tenant whether promotion may act on it. Pure. */

import { isConditionTrue } from '@hangar/runtime';
import { annotations } from '../api/index.ts';
import type { ControlPlane } from '../api/index.ts';
import { hostedNameLengthMax } from '../dedicated/hosted-control-plane.ts';
import type { TenantObject } from '../host/index.ts';
import type { Candidate } from './decide.ts';
import { metrics } from './policy.ts';
import type { Metric } from './policy.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Reports whether the control plane is measured. It is not while it is new, deleted, suspended, quarantined or migrating, or if a user
 * disabled promotion: its windows start again afterwards.
 */
export function isMeasurable({ metadata, status }: ControlPlane, tenant: TenantObject | undefined): boolean {
  if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[annotations.promotionDisabled] === 'true') {
    return false;
  }
  if (tenant?.spec?.suspension !== undefined || tenant?.status?.quarantine !== undefined) return false;
  const isCurrent = status?.observedGeneration === metadata.generation;
  return isCurrent && status?.phase === 'Ready' && isConditionTrue(status.conditions, 'Ready');
}

/** A control plane that was promoted and is not ready counts as migrating, so that no other one is promoted before its problem is solved. */
export function isMigrating({ metadata, spec, status }: ControlPlane): boolean {
  if (status?.phase === 'Migrating') return true;
  const { migration } = status ?? {};
  if (migration && migration.completedAt === undefined) return true;
  const isPromoted = metadata.annotations?.[annotations.promotedFor] !== undefined && spec?.mode === 'Dedicated';
  return isPromoted && (status?.phase !== 'Ready' || status.observedGeneration !== metadata.generation);
}

/** The control plane was promoted, and a user or an abort set its mode to Virtual: the annotation is no longer valid. */
export const hasStaleAnnotation = (plane: ControlPlane): boolean =>
  plane.metadata.annotations?.[annotations.promotedFor] !== undefined &&
  plane.spec?.mode !== 'Dedicated' &&
  !isMigrating(plane);

/** Without the history. */
export function candidateOf(plane: ControlPlane): Omit<Candidate, 'history'> {
  const { metadata, spec, status } = plane;
  const isDedicated = spec?.mode === 'Dedicated';
  const migrating = isMigrating(plane);
  const promotedFor = isDedicated ? metricOf(metadata.annotations?.[annotations.promotedFor]) : undefined;
  const { migration } = status ?? {};
  const times = [metadata.creationTimestamp, migration?.startedAt, migration?.completedAt];
  return {
    name: metadata.name!,
    changedAtMs: Math.max(...times.map((text) => Date.parse(text ?? '') || 0)),
    isMigrating: migrating,
    isInBudget: promotedFor !== undefined || (!isDedicated && migrating && migration?.from === 'Dedicated'),
    promotedFor,
    obstacle: isDedicated ? returnObstacle(plane) : promotionObstacle(plane),
  };
}

function promotionObstacle({ metadata, spec }: ControlPlane): string | undefined {
  const name = metadata.name!;
  if (name.length > hostedNameLengthMax || !label.test(name)) {
    return `mode Dedicated requires a DNS label of at most ${hostedNameLengthMax} characters as name`;
  }
  const field = spec?.endpointRef ? 'endpointRef' : spec?.endpointPolicy ? 'endpointPolicy' : undefined;
  return field && `spec.${field} is not supported in mode Dedicated`;
}

const returnObstacle = ({ spec }: ControlPlane): string | undefined =>
  spec?.dedicated ? 'spec.dedicated is set, and is not allowed in mode Virtual' : undefined;

/** An unknown text counts as a user's decision. */
const metricOf = (text: string | undefined): Metric | undefined => metrics.find((metric) => metric === text);

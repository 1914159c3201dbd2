/** The order in which hosted control planes get another rendering: waves, each of which waits for the previous one. */

import { annotations, pausedAnnotation } from '@hangar/hosted-operator';
import { failed, usage } from '../errors.ts';
import { conditionOf } from '../kinds.ts';
import type { HostedControlPlaneObject } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';
import { fullName } from './find.ts';

export interface PlanOptions {
  /** Version of the rendering. */
  readonly to: string;
  readonly waveSize: WaveSize;
  /** The user named the control planes: those that are not ready are included. */
  readonly isNamed: boolean;
}

export interface RollOutPlan {
  readonly waves: readonly (readonly HostedControlPlaneObject[])[];
  readonly skipped: readonly SkippedPlane[];
}

export interface SkippedPlane {
  readonly plane: HostedControlPlaneObject;
  readonly why: string;
  /** The control plane should have been changed. */
  readonly isFault: boolean;
}

/** A number of control planes, or a share of all that change. */
export type WaveSize = { readonly count: number } | { readonly percent: number };

/** Throws `Usage`. */
export function parseWaveSize(text: string): WaveSize {
  const [, digits = '', percent] = /^(\d+)(%)?$/.exec(text) ?? [];
  const value = Number(digits);
  if (value < 1 || (percent && value > 100)) {
    throw usage(`--wave-size ${quoted(text)} is not a number from 1 or a percentage from 1% to 100%`);
  }
  return percent ? { percent: value } : { count: value };
}

/** The version in the annotation, which the operator uses. Absent: the operator has not reconciled the object yet. */
export const renderingOf = ({ metadata }: HostedControlPlaneObject): string | undefined =>
  metadata.annotations?.[annotations.rendering];

/** Reports whether all objects of the control plane have the rendering. */
export const hasRendering = (plane: HostedControlPlaneObject, version: string): boolean =>
  renderingOf(plane) === version && plane.status?.rendering === version;

/** Throws `Failed` for an invalid annotation, before anything changes. */
export function planRollOut(planes: readonly HostedControlPlaneObject[], options: PlanOptions): RollOutPlan {
  const skipped: SkippedPlane[] = [];
  const groups = new Map<number, HostedControlPlaneObject[]>();
  for (const plane of planes.filter((one) => !hasRendering(one, options.to))) {
    const skip = skipOf(plane, options);
    if (skip) skipped.push({ plane, ...skip });
    else groups.set(waveOf(plane), [...(groups.get(waveOf(plane)) ?? []), plane]);
  }
  const count = [...groups.values()].flat().length;
  const size = sizeOf(options.waveSize, count);
  const ordered = [...groups].toSorted(([a], [b]) => a - b).map(([, group]) => group);
  return { waves: ordered.flatMap((group) => chunked(group, size)), skipped };
}

function skipOf(
  plane: HostedControlPlaneObject,
  { to, isNamed }: PlanOptions,
): Omit<SkippedPlane, 'plane'> | undefined {
  const { metadata } = plane;
  if (metadata.deletionTimestamp !== undefined) return { why: 'being deleted', isFault: false };
  if (isPaused(plane)) return { why: 'paused', isFault: false };
  const rendering = renderingOf(plane);
  if (rendering === undefined) return { why: 'not reconciled yet', isFault: false };
  const ready = conditionOf(plane, 'Ready');
  if (isNamed || rendering === to || ready?.status === 'True') return undefined;
  return { why: `not ready: ${ready?.reason ?? 'no status'}`, isFault: true };
}

export const isPaused = (plane: HostedControlPlaneObject): boolean =>
  plane.metadata.annotations?.[pausedAnnotation] !== undefined || conditionOf(plane, 'Paused')?.status === 'True';

function waveOf(plane: HostedControlPlaneObject): number {
  const text = plane.metadata.annotations?.[annotations.wave] ?? '0';
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw failed(`annotation ${annotations.wave} of ${fullName(plane)} is ${quoted(text)}, which is not an integer`, {
    next: `to correct it: kubectl annotate --overwrite -n ${plane.metadata.namespace} hostedcontrolplane ${plane.metadata.name} ${annotations.wave}=0`,
  });
}

const sizeOf = (size: WaveSize, count: number): number =>
  'count' in size ? size.count : Math.max(1, Math.ceil((count * size.percent) / 100));

const chunked = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

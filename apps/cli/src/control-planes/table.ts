/** Control planes in columns. */

import { since } from '@hangar/api/ages';
import { clusterPathOf, conditionOf } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import { table } from '../terminal/table.ts';

export interface PlaneTableOptions {
  readonly isWide: boolean;
  readonly now: number;
}

const head = ['NAME', 'MODE', 'READY', 'PHASE', 'ENDPOINT', 'AGE'];
const wideHead = [...head, 'CLASS', 'PATH', 'EXTERNAL', 'DELETION'];
const none = '<none>';

export function planeTable(planes: readonly ControlPlaneObject[], { isWide, now }: PlaneTableOptions): string {
  const rows = planes.map((plane) => {
    const { metadata, spec, status } = plane;
    const row = [
      metadata.name ?? '',
      spec?.mode ?? 'Virtual',
      conditionOf(plane, 'Ready')?.status ?? 'Unknown',
      metadata.deletionTimestamp ? 'Deleting' : (status?.phase ?? 'Pending'),
      status?.endpoint ?? none,
      ageOf(metadata.creationTimestamp, now),
    ];
    if (!isWide) return row;
    const external = status?.endpoints?.find(({ type }) => type === 'External')?.url;
    return [...row, spec?.classRef?.name ?? none, clusterPathOf(plane), external ?? none, spec?.deletionPolicy ?? none];
  });
  return table(isWide ? wideHead : head, rows);
}

/** What is no time was written by somebody else. */
export function ageOf(timestamp: string | null | undefined, now: number): string {
  try {
    return since(timestamp, now);
  } catch {
    return '<unknown>';
  }
}

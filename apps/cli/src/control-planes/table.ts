/** Control planes in columns. */

import { since } from '@hangar/api/ages';
import { clusterPathOf, conditionOf, isDedicated, servingMode } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import type { Style, Styler } from '../terminal/styles.ts';
import { Table } from '../terminal/table.ts';

export interface PlaneTableOptions {
  readonly isWide: boolean;
  readonly now: () => number;
  readonly style?: Styler;
}

const head = ['NAME', 'MODE', 'READY', 'PHASE', 'ENDPOINT', 'AGE'];
const wideHead = [...head, 'CLASS', 'PATH', 'EXTERNAL', 'DELETION'];
const none = '<none>';

export class PlaneTable {
  readonly #table: Table;
  readonly #options: PlaneTableOptions;

  constructor(options: PlaneTableOptions) {
    this.#options = options;
    const { style } = options;
    this.#table = new Table(options.isWide ? wideHead : head, { ...(style ? { style } : {}), styleOf: styleOfCell });
  }

  /** Returns the rows as lines; the first call begins with the head. */
  text(planes: readonly ControlPlaneObject[]): string {
    return this.#table.text(planes.map((plane) => this.#row(plane)));
  }

  #row(plane: ControlPlaneObject): string[] {
    const { metadata, spec, status } = plane;
    const row = [
      metadata.name ?? '',
      servingMode(plane),
      conditionOf(plane, 'Ready')?.status ?? 'Unknown',
      metadata.deletionTimestamp ? 'Deleting' : (status?.phase ?? 'Pending'),
      status?.endpoint ?? none,
      ageOf(metadata.creationTimestamp, this.#options.now()),
    ];
    if (!this.#options.isWide) return row;
    const external = status?.endpoints?.find(({ type }) => type === 'External')?.url;
    const path = isDedicated(plane) ? none : clusterPathOf(plane);
    return [...row, spec?.classRef?.name ?? none, path, external ?? none, spec?.deletionPolicy ?? none];
  }
}

function styleOfCell(column: string, cell: string): Style | undefined {
  if (column === 'READY') return cell === 'True' ? 'good' : cell === 'False' ? 'bad' : 'doubtful';
  if (column === 'PHASE') return cell === 'Ready' ? 'good' : cell === 'Failed' ? 'bad' : 'doubtful';
  return undefined;
}

/** Returns an age as kubectl prints it; `<unknown>` for text that is not a time. */
export function ageOf(timestamp: string | null | undefined, now: number): string {
  try {
    return since(timestamp, now);
  } catch {
    return '<unknown>';
  }
}

/** HostedControlPlanes in columns. */

import { ageOf } from '../control-planes/table.ts';
import { conditionOf } from '../kinds.ts';
import type { HostedControlPlaneObject } from '../kinds.ts';
import type { Style, Styler } from '../terminal/styles.ts';
import { table } from '../terminal/table.ts';

export interface HostedTableOptions {
  readonly isWide: boolean;
  readonly nowMs: number;
  readonly style: Styler;
}

const head = ['NAMESPACE', 'NAME', 'VERSION', 'READY', 'REPLICAS', 'ENDPOINT', 'AGE'];
const wideHead = [...head, 'CLUSTER', 'REASON', 'MESSAGE'];
const none = '<none>';

export function hostedTable(
  planes: readonly HostedControlPlaneObject[],
  { isWide, nowMs, style }: HostedTableOptions,
): string {
  const rows = planes.map((plane) => {
    const { metadata, spec, status } = plane;
    const { host, port } = spec?.controlPlaneEndpoint ?? {};
    const ready = conditionOf(plane, 'Ready');
    const row = [
      metadata.namespace ?? '',
      metadata.name ?? '',
      status?.version ?? spec?.version ?? none,
      ready?.status ?? 'Unknown',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      host === undefined ? none : `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      ageOf(metadata.creationTimestamp, nowMs),
    ];
    const cluster = metadata.ownerReferences?.find(({ kind }) => kind === 'Cluster')?.name;
    return isWide ? [...row, cluster ?? none, ready?.reason ?? none, ready?.message || none] : row;
  });
  return table(isWide ? wideHead : head, rows, { style, styleOf: styleOfCell });
}

function styleOfCell(column: string, cell: string): Style | undefined {
  if (column !== 'READY') return undefined;
  return cell === 'True' ? 'good' : cell === 'False' ? 'bad' : 'doubtful';
}

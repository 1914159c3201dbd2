/** The growth curves of a run, beside what the alternatives would take by what was measured of a few. */

import type { Alternative } from './alternatives.ts';
import { drawChart } from './chart.ts';
import type { Curve } from './chart.ts';
import type { Growth } from './growth.ts';

export function drawGrowth({ points }: Growth, alternatives: readonly Alternative[]): string {
  const sizes = points.map(({ tenants }) => tenants);
  const ours = (label: string, of: (point: Growth['points'][number]) => number, colour: 1 | 4 = 1): Curve => ({
    label,
    colour,
    points: points.map((point) => [point.tenants, of(point)]),
  });
  const others = (label: string, of: (one: Alternative, tenants: number) => number): Curve[] =>
    alternatives.map((one, n) => ({
      label: `${one.name}${label}`,
      colour: n === 0 ? 2 : 3,
      points: sizes.map((tenants) => [tenants, of(one, tenants)]),
      isCalculated: true,
    }));
  const measured = alternatives.map(({ name, readyMs }) => `${readyMs.length} (${name})`).join(' and ');
  return drawChart({
    title: 'Tenants of one server',
    note: `Tenants touched once, then idle. Dashes: calculated from what was measured of ${measured}.`,
    xLabel: 'tenants',
    panels: [
      {
        title: 'Memory',
        format: bytes,
        curves: [
          ours('Hangar', ({ residentMiB }) => residentMiB * mebibyte),
          ...others('', ({ baseMiB, tenantMiB }, tenants) => (baseMiB + tenantMiB * tenants) * mebibyte),
        ],
      },
      {
        title: 'Until one more answers, 8 at a time',
        format: (ms) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`),
        curves: [
          ours('Hangar, median', ({ created }) => created.all.p50Ms),
          ours('Hangar, 99th percentile', ({ created }) => created.all.p99Ms, 4),
          ...others(', one at a time', ({ readyMs }) => median(readyMs)),
        ],
      },
      {
        title: 'Disk',
        format: bytes,
        curves: [ours('Hangar', ({ diskMiB }) => diskMiB * mebibyte)],
      },
    ],
  });
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

const mebibyte = 1024 ** 2;
const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Of a power of ten. */
function bytes(value: number): string {
  const power = Math.floor(Math.log10(value) / 3);
  return `${Math.round(value / 1000 ** power)} ${units[power]}`;
}

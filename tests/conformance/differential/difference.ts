/** Compares two outcomes of one step, and lists the paths of differences: the smaller the path, the easier to find its cause. */

import { isObject } from '@hangar/api';
import type { Outcome } from './session.ts';

export interface Difference {
  /** `status`, `warnings`, `body.metadata.managedFields[0].fieldsV1.f:spec`. */
  readonly path: string;
  readonly real: unknown;
  readonly ours: unknown;
}

export function differences(real: Outcome, ours: Outcome): Difference[] {
  // One refuses what the other accepts, or for another reason: all other differences follow from that.
  if (real.status !== ours.status) {
    return [
      { path: 'status', real: real.status, ours: ours.status },
      { path: 'body.message', real: messageOf(real), ours: messageOf(ours) },
    ];
  }
  const found: Difference[] = [];
  compare('', real, ours, found);
  return found.map((one) => ({ ...one, path: one.path.slice(1) }));
}

function messageOf({ body }: Outcome): unknown {
  return isObject(body) ? (body['message'] ?? `a ${String(body['kind'])}`) : body;
}

function compare(path: string, real: unknown, ours: unknown, found: Difference[]): void {
  if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length) {
    for (const [at, value] of real.entries()) compare(`${path}[${at}]`, value, ours[at], found);
  } else if (isObject(real) && isObject(ours)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
      const [a, b] = [real, ours].map((one) => (Object.hasOwn(one, key) ? one[key] : undefined));
      compare(`${path}.${key}`, a, b, found);
    }
  } else if (JSON.stringify(real) !== JSON.stringify(ours)) found.push({ path, real, ours });
}

/** Returns what differences with one cause have in common: their paths without positions. */
export const signature = (all: readonly Difference[]): string =>
  [...new Set(all.map(({ path }) => path.replace(/\[\d+\]/g, '[]')))].sort().join(' ');

export function describeDifference({ path, real, ours }: Difference): string {
  return `  ${path}\n    real   ${JSON.stringify(real)}\n    hangar ${JSON.stringify(ours)}`;
}

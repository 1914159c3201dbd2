/** Selects the rules of a level and version, and evaluates a pod against them. */

import type { ObjectMeta } from '@hangar/api';
import type { PodSpec } from '../pod.ts';
import { baselineRules } from './checks/baseline.ts';
import type { Check, Rule, Violation } from './checks/check.ts';
import { restrictedRules } from './checks/restricted.ts';
import type { LevelVersion } from './policy.ts';

/** Violations are reported in this order. */
const rules: readonly Rule[] = [...baselineRules, ...restrictedRules];

/** Later versions have the same rules. */
const newest = Math.max(...rules.flatMap(({ versions }) => versions.map(({ since }) => since)));

const known = new Map<string, readonly Check[]>();

function checksOf(level: 'baseline' | 'restricted', minor: number): readonly Check[] {
  const key = `${level} ${minor}`;
  let checks = known.get(key);
  if (!checks) known.set(key, (checks = choose(level, minor)));
  return checks;
}

function choose(level: 'baseline' | 'restricted', minor: number): Check[] {
  const inForce = rules
    .filter((rule) => rule.level === 'baseline' || level === 'restricted')
    .flatMap(({ id, versions }) => {
      const version = versions.findLast(({ since }) => since <= minor);
      return version ? [{ id, ...version }] : [];
    });
  const overridden = new Set(inForce.map(({ overrides }) => overrides));
  return inForce.filter(({ id }) => !overridden.has(id)).map(({ check }) => check);
}

export function violationsOf({ level, version }: LevelVersion, metadata: ObjectMeta, spec: PodSpec): Violation[] {
  if (level === 'privileged') return [];
  const minor = version === 'latest' ? newest : Math.min(version, newest);
  return checksOf(level, minor).flatMap((check) => check(spec, metadata) ?? []);
}

/** `reason (detail), reason (detail)`. */
export const detailText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

export const reasonText = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');

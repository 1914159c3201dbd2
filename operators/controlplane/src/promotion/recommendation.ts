/** The conditions of a recommendation. Pure. */

import { findCondition, removeCondition, setCondition } from '@hangar/runtime';
import type { Clock } from '@hangar/core';
import type { Condition } from '../api/index.ts';
import type { Decision, Finding, Recommended } from './decide.ts';
import type { Metric } from './policy.ts';

export const promotionRecommended = 'PromotionRecommended';
export const returnRecommended = 'ReturnRecommended';

const reasons: Readonly<Record<Metric, string>> = {
  objects: 'ObjectsAboveThreshold',
  storedBytes: 'StoredBytesAboveThreshold',
  requestsPerSecond: 'RequestRateAboveThreshold',
  neighbourP99Ms: 'NeighbourLatencyAboveThreshold',
  stallsPerHour: 'StallsAboveThreshold',
};

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const units: Readonly<Record<Metric, (value: number) => string>> = {
  objects: (value) => `${number.format(value)} objects`,
  storedBytes: (value) => `${binaryBytes(value)} stored`,
  requestsPerSecond: (value) => `${number.format(value)} requests per second`,
  neighbourP99Ms: (value) => `${number.format(value)} ms 99th percentile of the neighbours`,
  stallsPerHour: (value) => `${number.format(value)} stalls in the last hour`,
};

/** Example: `120,431 objects (threshold: 100,000 objects)`. */
const findingText = ({ metric, value, limit }: Finding): string =>
  `${units[metric](value)} (threshold: ${units[metric](limit).split(' ')[0]})`;

export const reasonOf = ({ to, findings }: Recommended): string =>
  to === 'Virtual' ? 'BelowThresholds' : reasons[findings[0]!.metric];

export function messageOf({ findings, blocked }: Recommended): string {
  const text = findings.map(findingText).join(', ');
  return blocked === undefined ? text : `${text}; not changed automatically: ${blocked}`;
}

/** A condition keeps its message until a figure differs by more than this part, so that small changes cause no write. */
const toleratedPart = 0.2;

/** Figures of the written condition, to compare the next ones with. */
export interface Written {
  readonly reason: string;
  readonly recommended: Recommended;
}

/** Reports whether the message of the written condition is still good enough. */
export function isStillValid(written: Written | undefined, recommended: Recommended): boolean {
  if (!written || written.reason !== reasonOf(recommended) || written.recommended.to !== recommended.to) return false;
  const before = written.recommended;
  if (before.blocked !== recommended.blocked || before.findings.length !== recommended.findings.length) return false;
  return recommended.findings.every((finding) => {
    const same = before.findings.find(({ metric }) => metric === finding.metric);
    return same?.limit === finding.limit && Math.abs(finding.value - same.value) <= same.value * toleratedPart;
  });
}

/** Returns the conditions with the recommendation of the decision, or without any. */
export function conditionsWith(
  before: Condition[] | undefined,
  { recommended }: Pick<Decision, 'recommended'>,
  { observedGeneration, clock }: { readonly observedGeneration: number; readonly clock: Clock },
): Condition[] {
  const type = recommended?.to === 'Dedicated' ? promotionRecommended : returnRecommended;
  const others = [promotionRecommended, returnRecommended].filter((one) => !recommended || one !== type);
  let conditions = before ?? [];
  for (const other of others) {
    if (findCondition(conditions, other)) conditions = removeCondition(conditions, other) ?? [];
  }
  if (!recommended) return conditions;
  const [reason, message] = [reasonOf(recommended), messageOf(recommended)];
  return setCondition(conditions, { type, status: true, reason, message, observedGeneration }, clock);
}

function binaryBytes(value: number): string {
  const suffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti'];
  const power = Math.min(suffixes.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  return `${number.format(value / 1024 ** power)}${suffixes[power]}B`;
}

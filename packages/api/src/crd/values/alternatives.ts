/** `anyOf`, `oneOf`, `allOf` and `not`. Inside them nothing is ratcheted. */

import { once } from '@hangar/cel/work';
import { quote } from '../../status/field-error.ts';
import type { ValuePlan } from './plan.ts';
import { Report } from './report.ts';

type Check = (part: ValuePlan, value: unknown, name: string, report: Report) => void;

/** `check` checks one part as a separate schema. */
export function alternativesErrors(plan: ValuePlan, value: unknown, name: string, report: Report, check: Check): void {
  const attempt = (part: ValuePlan): Report =>
    once(() => {
      const result = new Report(report.prefix);
      check(part, value, name, result);
      return result;
    });
  const { anyOf, oneOf, allOf, not } = plan.alternatives;
  if (anyOf.length > 0) checkAnyOf(anyOf, attempt, name, report);
  if (oneOf.length > 0) checkOneOf(oneOf, attempt, name, report);
  if (allOf.length > 0) checkAllOf(allOf, attempt, name, report);
  if (not !== undefined && attempt(not).isValid) {
    report.addPlaceless(`${quote(name)} must not validate the schema (not)`);
  }
}

type Attempt = (part: ValuePlan) => Report;

function checkAnyOf(parts: readonly ValuePlan[], attempt: Attempt, name: string, report: Report): void {
  let best: Report | undefined;
  for (const part of parts) {
    const result = attempt(part);
    if (result.isValid) {
      report.merge(result);
      return;
    }
    if (best === undefined || result.matches > best.matches) best = result;
  }
  report.addPlaceless(`${quote(name)} must validate at least one schema (anyOf)`);
  report.merge(best!);
}

function checkOneOf(parts: readonly ValuePlan[], attempt: Attempt, name: string, report: Report): void {
  let best: Report | undefined;
  let first: Report | undefined;
  let valid = 0;
  for (const part of parts) {
    const result = attempt(part);
    if (result.isValid) {
      valid += 1;
      first ??= result;
    } else if (valid === 0 && (best === undefined || result.matches > best.matches)) {
      best = result;
    }
  }
  if (valid === 1) {
    report.merge(first!);
    return;
  }
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
  report.addPlaceless(`${quote(name)} must validate one and only one schema (oneOf). ${found}`);
  if (valid === 0) report.merge(best!);
}

function checkAllOf(parts: readonly ValuePlan[], attempt: Attempt, name: string, report: Report): void {
  let valid = 0;
  for (const part of parts) {
    const result = attempt(part);
    if (result.isValid) valid += 1;
    report.merge(result);
  }
  if (valid === parts.length) return;
  report.addPlaceless(`${quote(name)} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
}

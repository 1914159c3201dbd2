/**
 * Checks a value against a schema as kube-apiserver's OpenAPI validator does, with the same order and messages. Names in messages begin at
 * the checked value: `spec.replicas in body must be of type integer: "string"`.
 *
 * With a `Correlation` errors are ratcheted: a value that was invalid before an update and has not changed is tolerated.
 */

import { CelError, once } from '@hangar/cel/work';
import type { JsonObject } from '../../object.ts';
import { invalid, quote, required, tooLong, tooMany, typeInvalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { sorted } from '../structural/canonical.ts';
import type { Correlation } from '../structural/correlate.ts';
import { alternativesErrors } from './alternatives.ts';
import type { Enumeration } from './enumeration.ts';
import { isInt64, numberErrors } from './numbers.ts';
import { compiledPattern } from './plan.ts';
import type { ValuePlan } from './plan.ts';
import { Report } from './report.ts';

/** `prefix` is the path of the value in the object. */
export function valueErrors(plan: ValuePlan, value: unknown, prefix = '', before?: Correlation): FieldError[] {
  const report = new Report(prefix);
  checkValue(plan, value, '', report, before);
  return report.isValid ? report.errors : report.distinct();
}

export function checkValue(plan: ValuePlan, value: unknown, name: string, report: Report, before?: Correlation): void {
  if (before === undefined) {
    check(plan, value, name, report, undefined);
    return;
  }
  const known = report.errors.length;
  check(plan, value, name, report, before);
  if (report.errors.length > known && before.isEqual) report.errors.length = known;
}

/** Checks one of many parts: the validation may pause before it. */
function checkPart(plan: ValuePlan, value: unknown, name: string, report: Report, before?: Correlation): void {
  const found = once(() => {
    const own = new Report(report.prefix);
    checkValue(plan, value, name, own, before);
    return own;
  });
  report.merge(found);
}

function check(plan: ValuePlan, value: unknown, name: string, report: Report, before: Correlation | undefined): void {
  if (value === null) {
    if (plan.types.length === 0 || plan.isNullable) report.matches += 1;
    else report.add(wrongType(report, name, plan.types.join(','), 'null'));
    if (plan.enumeration !== undefined) enumError(plan.enumeration, value, name, report);
    return;
  }
  if (plan.types.length > 0 || plan.format !== '') {
    const error = typeError(plan, value, name, report);
    if (error === undefined) report.matches += 1;
    else report.add(error);
    report.matches += 1;
  }
  if (plan.hasAlternatives) alternativesErrors(plan, value, name, report, checkValue);
  report.matches += 2;
  if (typeof value === 'string') {
    stringErrors(plan, value, name, report);
    report.matches += plan.checkFormat === undefined ? 1 : 2;
  } else if (typeof value === 'number') {
    if (plan.hasBounds) numberErrors(plan, value, name, report);
    report.matches += 2;
  } else if (Array.isArray(value)) {
    listErrors(plan, value, name, report, before);
    report.matches += 2;
  }
  if (plan.enumeration !== undefined) enumError(plan.enumeration, value, name, report);
  report.matches += 1;
  if (typeof value === 'object' && !Array.isArray(value)) {
    objectErrors(plan, value as JsonObject, name, report, before);
    report.matches += 1;
  }
  report.matches += 1;
}

const wrongType = (report: Report, name: string, type: string, found: string): FieldError =>
  typeInvalid(report.pathOf(name), found, `${name} in body must be of type ${type}: ${quote(found)}`);

/** Returns the type of a value in Go's terms, and its format. */
function goType(value: unknown): readonly [type: string, format: string] {
  switch (typeof value) {
    case 'string':
      return ['string', ''];
    case 'boolean':
      return ['boolean', ''];
    case 'number':
      return isInt64(value) ? ['integer', 'int64'] : ['number', 'float64'];
    default:
      return [Array.isArray(value) ? 'array' : 'object', ''];
  }
}

function typeError(plan: ValuePlan, value: unknown, name: string, report: Report): FieldError | undefined {
  const { types, format } = plan;
  const [type, typeFormat] = goType(value);
  const isOfType = types.includes(type) || (type === 'integer' && types.includes('number'));
  if (isOfType) return undefined;
  // A text or list of any content is accepted for a format of strings: only the format is checked then.
  const isTextual = type === 'string' || type === 'array';
  if (!isTextual && format !== '' && format !== typeFormat) return wrongType(report, name, format, typeFormat);
  const isNumeric = types.includes('number') || types.includes('integer');
  if (isTextual && format !== '' && !isNumeric) return undefined;
  return wrongType(report, name, types.join(','), type);
}

function stringErrors(plan: ValuePlan, text: string, name: string, report: Report): void {
  const { maxLength, minLength, pattern } = plan;
  if (maxLength !== undefined && text.length > maxLength && characters(text) > maxLength) {
    report.add(tooLong(report.pathOf(name), maxLength));
  } else if (minLength !== undefined && characters(text) < minLength) {
    report.add(invalid(report.pathOf(name), text, `${name} in body should be at least ${minLength} chars long`));
  } else if (pattern !== '') {
    const problem = patternProblem(pattern, text);
    if (problem !== undefined) report.add(invalid(report.pathOf(name), text, `${name} in body ${problem}`));
  }
  if (plan.checkFormat?.(text) === false) {
    report.add(
      typeInvalid(report.pathOf(name), text, `${name} in body must be of type ${plan.format}: ${quote(text)}`),
    );
  }
}

/** Matching a pattern takes time in proportion to the text and the pattern: a longer text is matched within a budget. */
const unmeteredTextLength = 256;

function patternProblem(pattern: string, text: string): string | undefined {
  const matches = (): boolean => compiledPattern(pattern).test(text);
  try {
    const isMatch =
      text.length <= unmeteredTextLength ? matches() : once((budget) => (budget ? budget.run(matches) : matches()));
    return isMatch ? undefined : `should match '${pattern}'`;
  } catch (error) {
    if (!(error instanceof CelError) || error.code !== 'Interrupted') throw error;
    return `cannot be matched against '${pattern}': ${error.message}`;
  }
}

/** Counts code points: a surrogate pair is one. */
function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) {
      count -= 1;
      i += 1;
    }
  }
  return count;
}

function enumError(values: Enumeration, value: unknown, name: string, report: Report): void {
  if (values.has(value)) return;
  report.add({
    type: 'FieldValueNotSupported',
    path: report.pathOf(name),
    value: sorted(value),
    detail: values.detail,
  });
}

function listErrors(
  plan: ValuePlan,
  list: readonly unknown[],
  name: string,
  report: Report,
  before?: Correlation,
): void {
  const { items, minItems, maxItems } = plan;
  if (items !== undefined) {
    for (let i = 0; i < list.length; i++) checkPart(items, list[i], `${name}[${i}]`, report, before?.item(i));
  }
  if (minItems !== undefined && list.length < minItems) {
    report.add(invalid(report.pathOf(name), list.length, `${name} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && list.length > maxItems) {
    report.add(tooMany(report.pathOf(name), list.length, maxItems));
  }
}

function objectErrors(plan: ValuePlan, object: JsonObject, name: string, report: Report, before?: Correlation): void {
  const { others, minProperties, maxProperties } = plan;
  const keys = Object.keys(object);
  if (minProperties !== undefined && keys.length < minProperties) {
    const detail = `${name} in body should have at least ${minProperties} properties`;
    report.add(invalid(report.pathOf(name), keys.length, detail));
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    report.add(tooMany(report.pathOf(name), keys.length, maxProperties));
  }
  for (const key of keys) {
    const property = plan.property(key);
    const part = property ?? others;
    if (part !== undefined) {
      const inner = property !== undefined && name === '' ? key : `${name}.${key}`;
      // The type of an object is not data: an invalid one is never tolerated.
      const isTypeName = name === '' && (key === 'kind' || key === 'apiVersion');
      const check = property === undefined ? checkPart : checkValue;
      check(part, object[key], inner, report, isTypeName ? undefined : before?.field(key));
    } else if (plan.forbidsOthers) {
      report.add(invalid(report.pathOf(name), key, `${name}.${key} in body is a forbidden property`));
    }
  }
  for (const key of plan.required) {
    if (!Object.hasOwn(object, key)) report.add(required(report.pathOf(`${name}.${key}`), ''));
  }
}

/** `x-kubernetes-validations`: checks their form, compiles their expressions, and limits their cost. */

import { CelError, estimatedRuleCostLimit, estimatedSchemaCostLimit, once, schemaType, WorkBudget } from '@hangar/cel';
import type { StructuralSchema, Type } from '@hangar/cel';
import { child, forbidden, index, internal, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { isSet } from '../json-schema.ts';
import type { JsonSchema, ValidationRule } from '../json-schema.ts';
import { elementType, fieldType } from '../rules/child-type.ts';
import { resolveFieldPath } from '../rules/field-path.ts';
import { interruptedRule, RuleCompiler } from '../rules/rule.ts';
import type { CompiledRule } from '../rules/rule.ts';
import { goRule } from './go-form.ts';
import { occurrencesMax } from './occurrences.ts';
import { unsupportedPart } from './unsupported.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

export function ruleFormErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = (field: string): string => child(index(path, i), field);
    const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
    const text = (rule.rule ?? '').trim();
    if (text === '') {
      errors.push(required(at('rule'), 'rule is not specified'));
    } else if (message !== '' && message.trim() === '') {
      errors.push(invalid(at('message'), message, 'must be non-empty if specified'));
    } else if (hasLineBreak(message.trim())) {
      errors.push(invalid(at('message'), message, 'must not contain line breaks'));
    } else if (hasLineBreak(text) && message.trim() === '') {
      errors.push(required(at('message'), 'message must be specified if rule contains line breaks'));
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      errors.push(required(at('messageExpression'), 'messageExpression must be non-empty if specified'));
    }
    if (isSet(reason) && !reasons.includes(reason)) errors.push(notSupported(at('reason'), reason, reasons));
    if (fieldPath !== '') fieldPathErrors(schema, fieldPath, at('fieldPath'), errors);
  }
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

function fieldPathErrors(schema: JsonSchema, fieldPath: string, at: string, errors: FieldError[]): void {
  if (fieldPath.trim() === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'));
  if (hasLineBreak(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'));
  const isWrong =
    unsupportedPart(schema) === undefined && typeof resolveFieldPath(fieldPath, schema, true) === 'string';
  if (isWrong) errors.push(invalid(at, fieldPath, 'must be a valid path'));
}

/** The subject of the expressions of one schema: the type of its values, and their number in one object. */
export class ExpressionScope {
  readonly schema: JsonSchema;
  readonly isCostLimited: boolean;
  readonly total: TotalCost;
  /** Infinity if a list or map on the path has no bound. */
  readonly occurrences: number;
  readonly #parent: ExpressionScope | undefined;
  readonly #partOf: ((whole: Type | undefined) => Type | undefined) | undefined;
  /** This schema or one above it has rules: then the type of the whole is built anyway. */
  readonly #isRuled: boolean;
  #type: Type | undefined;

  private constructor(
    schema: JsonSchema,
    isCostLimited: boolean,
    parent?: ExpressionScope,
    partOf?: (whole: Type | undefined) => Type | undefined,
  ) {
    this.schema = schema;
    this.isCostLimited = isCostLimited;
    this.total = parent?.total ?? new TotalCost();
    this.occurrences = parent ? multiply(parent.occurrences, elementsMax(parent.schema)) : 1;
    this.#parent = parent;
    this.#partOf = partOf;
    this.#isRuled = (parent !== undefined && parent.#isRuled) || (schema['x-kubernetes-validations']?.length ?? 0) > 0;
  }

  static root(schema: JsonSchema, isCostLimited: boolean): ExpressionScope {
    return new ExpressionScope(schema, isCostLimited);
  }

  field(name: string, part: JsonSchema): ExpressionScope {
    return new ExpressionScope(part, this.isCostLimited, this, (whole) => fieldType(whole, name));
  }

  element(part: JsonSchema): ExpressionScope {
    return new ExpressionScope(part, this.isCostLimited, this, elementType);
  }

  /** Undefined if expressions cannot access such values. */
  get type(): Type | undefined {
    const parent = this.#parent;
    const isResource = parent === undefined || (this.schema['x-kubernetes-embedded-resource'] ?? false);
    this.#type ??=
      (parent !== undefined && parent.#isRuled ? this.#partOf?.(parent.type) : undefined) ??
      schemaType(this.schema as StructuralSchema, { root: isResource });
    return this.#type;
  }
}

function elementsMax(schema: JsonSchema): number {
  if (schema.type === 'array') return isSet(schema.maxItems) ? Math.max(0, schema.maxItems) : Infinity;
  if (schema.type !== 'object' || !isSet(schema.additionalProperties)) return 1;
  return isSet(schema.maxProperties) ? Math.max(0, schema.maxProperties) : Infinity;
}

/** Zero times infinity is zero. */
const multiply = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);

class TotalCost {
  cost = 0;
  #expensive: { readonly path: string; readonly cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.cost += cost;
    if (cost < estimatedSchemaCostLimit / 100) return;
    this.#expensive.push({ path, cost });
    this.#expensive = this.#expensive.sort((a, b) => b.cost - a.cost).slice(0, 4);
  }

  errors(path: string): FieldError[] {
    if (this.cost <= estimatedSchemaCostLimit) return [];
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#expensive.map((one) => forbidden(one.path, detail)),
      forbidden(path, costMessage(what, this.cost, estimatedSchemaCostLimit)),
    ];
  }
}

export function costMessage(what: string, cost: number, limit: number): string {
  const times = cost / limit;
  const factor = times > 100 ? 'more than 100x' : `${times.toFixed(times < 1.5 ? 6 : 1)}x`;
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

interface RulePlace {
  readonly uncorrelatable: string | undefined;
  readonly scope: ExpressionScope;
}

interface EstimatedRule {
  readonly compiled: CompiledRule;
  readonly costs: { readonly rule: number; readonly message: number };
}

function estimatedRule(compiler: RuleCompiler, rule: ValidationRule, budget = new WorkBudget()): EstimatedRule {
  const costs = { rule: 0, message: 0 };
  let compiled: CompiledRule | undefined;
  try {
    const { program, message } = (compiled = compiler.compile(rule, budget));
    budget.run(() => {
      costs.rule = program?.estimatedCost.max ?? 0;
      costs.message = message?.estimatedCost.max ?? 0;
    });
    return { compiled, costs };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const interrupted = interruptedRule(rule, error);
    return { compiled: { ...interrupted, ...compiled, error: interrupted.error }, costs };
  }
}

/** Checks the rules of one schema, whose form is valid. */
export function expressionErrors(schema: JsonSchema, path: string, place: RulePlace, errors: FieldError[]): void {
  const { scope } = place;
  const { type } = scope;
  if (type === undefined) {
    const problem = 'unable to convert structural schema to CEL declarations';
    const text = `internal error: failed to construct type information for x-kubernetes-validations rules: ${problem}`;
    errors.push(internal(path, text));
    return;
  }
  const occurrences = scope.occurrences === Infinity ? occurrencesMax(schema) : scope.occurrences;
  const compiler = new RuleCompiler(schema, type);
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const { compiled, costs } = once((budget) => estimatedRule(compiler, rule, budget));
    const at = (field: string): string => child(index(path, i), field);
    const observe = (field: string, what: string, cost: number): void => {
      if (scope.isCostLimited && cost > estimatedRuleCostLimit) {
        errors.push(forbidden(at(field), costMessage(what, cost, estimatedRuleCostLimit)));
      }
      scope.total.observe(at(field), cost);
    };
    observe('rule', 'estimated rule cost', multiply(costs.rule, occurrences));
    if (compiled.error !== undefined) errors.push(invalid(at('rule'), goRule(rule), compiled.error));
    if (compiled.messageError !== undefined) {
      errors.push(invalid(at('messageExpression'), goRule(rule), compiled.messageError));
    } else if (compiled.message !== undefined) {
      observe('messageExpression', 'estimated messageExpression cost', costs.message);
    }
    if (compiled.usesOldSelf) {
      if (place.uncorrelatable !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
        errors.push(invalid(at('rule'), rule.rule, detail));
      }
    } else if (isSet(rule.optionalOldSelf)) {
      const detail = 'may not be set if oldSelf is not used in rule';
      errors.push(invalid(at('optionalOldSelf'), rule.optionalOldSelf, detail));
    }
  }
}

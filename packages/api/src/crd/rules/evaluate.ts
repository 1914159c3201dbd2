/**
 * Runs the rules of a schema over an object, within Kubernetes' budget for one request. A failed rule without `oldSelf` is only a warning
 * if its value has not changed.
 */

import { adapter, CelError, nextInSlice, Optional, perRequestCostLimit, WorkBudget } from '@hangar/cel';
import type { CelBindings } from '@hangar/cel';
import { isObject } from '../../object.ts';
import type { JsonObject } from '../../object.ts';
import {
  child,
  duplicate,
  fieldErrorText,
  forbidden,
  index,
  invalid,
  key,
  noValue,
  quote,
  required,
} from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { errorsMax } from '../bounded-errors.ts';
import { sorted } from '../structural/canonical.ts';
import { KeyedItems } from '../structural/correlate.ts';
import type { Correlation } from '../structural/correlate.ts';
import { nilPath } from '../values/report.ts';
import { withoutNullFields } from './null-fields.ts';
import type { CompiledRule } from './rule.ts';
import { compileMetRules } from './rule-tree.ts';
import type { RuleNode } from './rule-tree.ts';

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';
const messageBytesMax = 5 * 1024;

/** Correlation of a value with its old value, and that of its nearest ancestor, for values without their own. */
interface Standing {
  readonly own: Correlation | undefined;
  readonly parent: Correlation | undefined;
}

const unknownStanding: Standing = { own: undefined, parent: undefined };

export interface RuleOutcome {
  readonly errors: FieldError[];
  /** Messages of tolerated errors. */
  readonly warnings: string[];
}

export interface RuleRun {
  /** Path of the value; empty for the root. */
  readonly path?: string;
  /** The old value; absent on creation. */
  readonly old?: unknown;
  /** Enables ratcheting. */
  readonly before?: Correlation | undefined;
  /** Budget of the request; absent: one for these rules alone. */
  readonly budget?: WorkBudget | undefined;
}

export function runRules(node: RuleNode, value: unknown, run: RuleRun = {}): RuleOutcome {
  try {
    compileMetRules(node, value);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const detail = `rule compile error: compilation failed: ${error.message}`;
    return { errors: [invalid(run.path || nilPath, node.schema.type, detail)], warnings: [] };
  }
  // Rules get a separate slice: compiling may have used most of this one.
  nextInSlice();
  const evaluation = new Evaluation(run.budget ?? new WorkBudget());
  evaluation.visit(node, value, run.old, run.path ?? '', { own: run.before, parent: undefined });
  const { errors, warnings } = evaluation;
  return { errors, warnings };
}

class Evaluation {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  #budget = perRequestCostLimit;
  readonly #work: { readonly budget: WorkBudget };
  /** The budget is spent: no further rules are run. */
  #isOver = false;

  constructor(budget: WorkBudget) {
    this.#work = { budget };
  }

  visit(node: RuleNode, value: unknown, old: unknown, path: string, standing: Standing): void {
    if (value === null || value === undefined || this.#isOver) return;
    if (node.hasOwnRules) this.#rules(node, value, old ?? undefined, path, standing);
    if (Array.isArray(value)) this.#items(node, value, old, path, standing);
    else if (isObject(value)) this.#fields(node, value, old, path, standing);
  }

  #items(node: RuleNode, list: readonly unknown[], old: unknown, path: string, standing: Standing): void {
    if (node.items === undefined) return;
    const oldItems = Array.isArray(old) ? new KeyedItems(node.schema, old) : undefined;
    for (let i = 0; i < list.length && !this.#isOver; i++) {
      const { own } = standing;
      const inner = own === undefined ? standing : { own: own.item(i), parent: own };
      this.visit(node.items, list[i], oldItems?.find(list[i]), index(path, i), inner);
    }
  }

  #fields(node: RuleNode, object: JsonObject, old: unknown, path: string, standing: Standing): void {
    if (!node.leadsToFields) return;
    for (const name of Object.keys(object)) {
      if (this.#isOver) return;
      const property = node.property(name);
      if (property === undefined && node.others === undefined) continue;
      const oldValue = isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
      const inner = fieldStanding(standing, name);
      if (node.others !== undefined) this.visit(node.others, object[name], oldValue, key(path, name), inner);
      if (property !== undefined) this.visit(property, object[name], oldValue, child(path, name), inner);
    }
  }

  #rules(node: RuleNode, value: unknown, old: unknown, path: string, standing: Standing): void {
    const { type } = node.schema;
    const place = path === '' ? nilPath : path;
    if (this.#budget <= 0) {
      this.#stop(invalid(place, type, outOfBudget));
      return;
    }
    if (node.type === undefined) {
      const problem = 'failed to convert to declType for CEL validation rules';
      this.#add(invalid(place, type, `rule compiler initialization error: ${problem}`));
      return;
    }
    const self = withoutNullFields(value, node.schema);
    const before = old === undefined ? undefined : withoutNullFields(old, node.schema);
    for (const compiled of node.rules) {
      if (this.#isOver) return;
      if (compiled.error !== undefined) {
        this.#add(invalid(place, type, `rule compile error: ${compiled.error}`));
      } else if (
        compiled.program !== undefined &&
        !(compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf)
      ) {
        this.#rule(compiled, node, self, before, path, standing);
      }
    }
  }

  #rule(compiled: CompiledRule, node: RuleNode, value: unknown, old: unknown, path: string, standing: Standing): void {
    const { rule } = compiled;
    const { type } = node.schema;
    const place = path === '' ? nilPath : path;
    const bindings: CelBindings = compiled.needsOldSelf
      ? { self: value, oldSelf: oldSelf(compiled, node, old) }
      : { self: value };
    try {
      const result = compiled.program!.evaluate(bindings, this.#work);
      if (!this.#spend(result.cost)) {
        this.#stop(invalid(place, type, outOfBudget));
        return;
      }
      if (result.value === true) return;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      const { message } = error;
      if (error.code === 'CostLimitExceeded') {
        const detail = `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(compiled)}`;
        this.#stop(invalid(place, type, detail));
      } else if (message.startsWith('no such overload')) {
        const detail = `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(compiled)}`;
        this.#add(invalid(place, type, detail));
      } else if (error.code === 'Interrupted') {
        this.#stop(invalid(place, type, `${message} evaluating rule: ${ruleText(compiled)}`));
      } else {
        this.#add(invalid(place, type, `${message} evaluating rule: ${ruleText(compiled)}`));
      }
      return;
    }
    const at = compiled.fieldPath === '' ? place : child(path, compiled.fieldPath);
    const isExcused = (): boolean => !compiled.usesOldSelf && ((standing.own ?? standing.parent)?.isEqual ?? false);
    const report = (error: FieldError): void => {
      if (!isExcused()) this.#add(error);
      else if (this.warnings.length < errorsMax) this.warnings.push(fieldErrorText(error));
    };
    const message = this.#message(compiled, bindings, (detail) => report(invalid(at, type, detail)));
    if (this.#isOver) return;
    const shown = type === 'object' || type === 'array' ? noValue : sorted(value);
    report(
      errorFor(
        rule.reason,
        at,
        shown,
        message ?? (rule.message ? rule.message.trim() : `failed rule: ${ruleText(compiled)}`),
      ),
    );
  }

  /** Returns the text of `messageExpression`; undefined if it returns none that can be shown. */
  #message(compiled: CompiledRule, bindings: CelBindings, fail: (detail: string) => void): string | undefined {
    if (compiled.message === undefined) return undefined;
    try {
      const { value, cost } = compiled.message.evaluate(bindings, this.#work);
      if (!this.#spend(cost)) {
        fail(
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
        );
        this.#isOver = true;
        return undefined;
      }
      const text = typeof value === 'string' ? value.trim() : '';
      return text === '' || text.includes('\n') || Buffer.byteLength(text) > messageBytesMax ? undefined : text;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      if (error.code === 'CostLimitExceeded') {
        const source = quote(compiled.rule.messageExpression ?? '');
        fail(`no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`);
        this.#isOver = true;
      } else if (error.code === 'Interrupted') {
        fail(`${error.message} evaluating messageExpression: ${quote(compiled.rule.messageExpression ?? '')}`);
        this.#isOver = true;
      }
      return undefined;
    }
  }

  #spend(cost: number): boolean {
    if (cost > this.#budget) return false;
    this.#budget -= cost;
    return true;
  }

  #add(error: FieldError): void {
    this.errors.push(error);
    if (this.errors.length >= errorsMax) this.#isOver = true;
  }

  #stop(error: FieldError): void {
    this.errors.push(error);
    this.#isOver = true;
  }
}

function fieldStanding(standing: Standing, name: string): Standing {
  const { own, parent } = standing;
  if (own === undefined) return standing;
  if (parent === undefined && (name === 'apiVersion' || name === 'kind')) return unknownStanding;
  return { own: own.field(name), parent: own };
}

function oldSelf(compiled: CompiledRule, node: RuleNode, old: unknown): unknown {
  if (!compiled.rule.optionalOldSelf) return old;
  return old === undefined ? Optional.none : new Optional(adapter(node.type!)(old));
}

const ruleText = ({ rule }: CompiledRule): string => (rule.message ? rule.message.trim() : rule.rule.trim());

function errorFor(reason: string | undefined, path: string, value: unknown, detail: string): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      return duplicate(path, value);
    default:
      return invalid(path, value, detail);
  }
}

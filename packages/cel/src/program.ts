/**
 * The façade: text to a program, bindings to a value. Programs are immutable and cacheable; one program may be evaluated
 * inside another's evaluation, but not by two threads.
 */

import { CelError } from './errors.ts';
import { check } from './check/checker.ts';
import { estimateCost } from './cost/estimate.ts';
import type { Interval } from './cost/interval.ts';
import type { Environment } from './environment.ts';
import { Frame } from './evaluate/frame.ts';
import type { Code } from './evaluate/frame.ts';
import { Planner } from './evaluate/planner.ts';
import { perCallCostLimit } from './limits.ts';
import type { Expr } from './syntax/ast.ts';
import { walk } from './syntax/walk.ts';
import { parse } from './syntax/parser.ts';
import { formatIssues, issuesOf } from './syntax/source.ts';
import type { Problem } from './syntax/source.ts';
import { dynType } from './types.ts';
import type { Type } from './types.ts';
import { validateLiterals } from './check/validate-literals.ts';
import type { CelValue } from './values/values.ts';
import { asCelError, enter, leave, withBudget } from './work.ts';
import type { WorkBudget } from './work.ts';

export interface CompileOptions {
  /** Fail with code `Cost` when the estimate's upper end is above this. */
  readonly costLimit?: number;
  /** Limits processor time and memory, with code `Interrupted`. Absent: as for an evaluation. */
  readonly budget?: WorkBudget | undefined;
  /** Do not refuse what does not type-check: it fails when it is evaluated, if it is. */
  readonly lenient?: boolean;
}

export interface EvaluateOptions {
  /** Kubernetes' limit per call unless given. */
  readonly costLimit?: number;
  /** Limits processor time and memory, with code `Interrupted`. Absent: that of the evaluation around this one, or a new one. */
  readonly budget?: WorkBudget | undefined;
}

export interface Evaluation {
  readonly value: CelValue;
  readonly cost: number;
}

/** Variables by name: JSON, or CEL values. Own properties only. */
export type CelBindings = Readonly<Record<string, unknown>>;

export class Program {
  readonly source: string;
  readonly outputType: Type;
  readonly #root: Expr;
  readonly #environment: Environment;
  readonly #code: Code;
  readonly #variables: readonly string[];
  readonly #slotCount: number;
  #estimate: Interval | undefined;
  /** Reused from call to call; undefined while in use. */
  #spare: Frame | undefined;

  constructor(source: string, root: Expr, environment: Environment) {
    this.source = source;
    this.outputType = root.type ?? dynType;
    this.#root = root;
    this.#environment = environment;
    const planner = new Planner(environment, variablesOf(root));
    this.#code = planner.plan(root);
    this.#variables = planner.variables;
    this.#slotCount = planner.slotCount;
  }

  /** Least and most that an evaluation may cost, as far as the types tell. */
  get estimatedCost(): Interval {
    return (this.#estimate ??= withBudget(undefined, () => estimateCost(this.#root, this.#environment)));
  }

  /** The checked tree, for translations into other languages; read only. */
  get expression(): Expr {
    return this.#root;
  }

  /** Variables the expression refers to. */
  get variables(): readonly string[] {
    return this.#variables;
  }

  /** Throws `CelError` with code `Evaluation`, `CostLimitExceeded` or `Interrupted`. */
  evaluate(bindings: CelBindings, options: EvaluateOptions = {}): Evaluation {
    const outer = enter(options.budget);
    const frame = this.#spare ?? new Frame(this.#slotCount);
    this.#spare = undefined;
    frame.begin(options.costLimit ?? perCallCostLimit);
    try {
      for (const [slot, name] of this.#variables.entries()) {
        frame.slots[slot] = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
      }
      return { value: this.#code(frame), cost: frame.cost };
    } catch (thrown) {
      throw asCelError(thrown, frame.cost);
    } finally {
      leave(outer, frame.unreportedNs);
      // Nothing of one object may be kept alive until the next evaluation.
      frame.slots.fill(undefined);
      this.#spare = frame;
    }
  }
}

/** Throws `CelError` with code `Syntax`, `Type`, `Cost` or `Interrupted`, and all issues with their positions. */
export function compile(source: string, environment: Environment, options: CompileOptions = {}): Program {
  return withBudget(options.budget, () => compileText(source, environment, options));
}

function compileText(source: string, environment: Environment, options: CompileOptions): Program {
  const root = parse(source, environment.macros);
  const problems: Problem[] = check(root, environment, options.lenient);
  if (problems.length === 0 && !options.lenient) problems.push(...validateLiterals(root));
  if (problems.length > 0) {
    const issues = issuesOf(
      source,
      problems.sort((a, b) => a.offset - b.offset),
    );
    throw new CelError('Type', formatIssues(source, issues), issues);
  }
  const program = new Program(source, root, environment);
  if (options.costLimit !== undefined && program.estimatedCost.max > options.costLimit) {
    throw new CelError('Cost', `estimated cost ${program.estimatedCost.max} exceeds the limit of ${options.costLimit}`);
  }
  return program;
}

function variablesOf(root: Expr): string[] {
  const names = new Set<string>();
  walk(root, (node) => {
    const name = node.kind === 'ident' || node.kind === 'select' ? node.resolved : undefined;
    if (name !== undefined) names.add(name);
    return name === undefined;
  });
  return [...names];
}

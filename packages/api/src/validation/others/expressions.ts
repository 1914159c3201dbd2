/** The interface to CEL. Its compiler is heavy, so it is loaded with the first expression, in one synchronous step. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import { internal, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type * as CelExpressions from './cel-expressions.ts';

/** Required result of an expression. */
export type ExpressionUse =
  | 'condition'
  | 'message'
  | 'auditAnnotation'
  | 'variable'
  | 'applyConfiguration'
  | 'jsonPatch'
  | 'deviceSelector';

export interface ExpressionScope {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Variables declared before, by name; undefined if there is no `variables`. */
  readonly variables?: Map<string, unknown>;
}

export interface ExpressionProblem {
  readonly kind: 'invalid' | 'required' | 'internal';
  readonly detail: string;
}

export interface ExpressionResult {
  readonly problem?: ExpressionProblem;
  /** The compiler's type object, kept in `variables`. */
  readonly type?: unknown;
}

export type ExpressionCompiler = (text: string, use: ExpressionUse, scope: ExpressionScope) => ExpressionResult;

const require = createRequire(import.meta.url);

const compiler = lazy(() => (require('./cel-expressions.ts') as typeof CelExpressions).compileExpression);

export const compileExpression: ExpressionCompiler = (text, use, scope) => compiler()(text, use, scope);

/** `shown`: the expression as the client wrote it. */
export function problemErrors(path: string, shown: string, { problem }: ExpressionResult): FieldError[] {
  if (!problem) return [];
  if (problem.kind === 'required') return [required(path, problem.detail)];
  return [problem.kind === 'invalid' ? invalid(path, shown, problem.detail) : internal(path, problem.detail)];
}

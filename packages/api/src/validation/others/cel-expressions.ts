/**
 * Admission expressions, compiled with CEL, for validation and evaluation. CEL is heavy: import this module lazily, for the first
 * expression.
 */

import {
  CelError,
  applyConfigurations,
  authorizerType,
  boolType,
  compile,
  dynType,
  formatType,
  isDyn,
  jsonPatchType,
  jsonPatches,
  kubernetesEnvironment,
  listOf,
  once,
  nullType,
  resourceCheckType,
  stringType,
  WorkBudget,
  withVariables,
} from '@hangar/cel';
import type { Environment, Program, Type } from '@hangar/cel';
import { deviceType, namespaceType, requestType, variablesType } from './admission-types.ts';
import type { ExpressionCompiler, ExpressionResult, ExpressionScope, ExpressionUse } from './expressions.ts';

/** Allowed result types of an expression; absent: any. */
const results: Readonly<Partial<Record<ExpressionUse, readonly Type[]>>> = {
  condition: [boolType],
  message: [stringType],
  auditAnnotation: [stringType, nullType],
  applyConfiguration: [{ kind: 'object', name: 'Object', fields: new Map() }],
  jsonPatch: [listOf(jsonPatchType)],
};

const common = {
  object: dynType,
  oldObject: dynType,
  namespaceObject: namespaceType,
  request: requestType,
};

/** Libraries never change: one environment for patches, one for all others. */
const bases = new Map<boolean, Environment>();

let deviceEnvironment: Environment | undefined;

function environmentFor(use: ExpressionUse, scope: ExpressionScope): Environment {
  if (use === 'deviceSelector') return (deviceEnvironment ??= kubernetesEnvironment({ device: deviceType }));
  const isPatch = use === 'applyConfiguration' || use === 'jsonPatch';
  let base = bases.get(isPatch);
  if (!base) {
    base = kubernetesEnvironment(common, isPatch ? [applyConfigurations, jsonPatches] : []);
    bases.set(isPatch, base);
  }
  return withVariables(base, {
    ...(scope.hasParams ? { params: dynType } : {}),
    ...(scope.hasAuthorizer ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType } : {}),
    ...(scope.variables ? { variables: variablesType(scope.variables) } : {}),
  });
}

/** The problem of an empty expression is reported without a position. */
const emptyProblem =
  "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

export interface CompiledExpression extends ExpressionResult {
  /** Absent if there is a problem. */
  readonly program?: Program;
}

/** Throws `CelError` with code `Interrupted`. Other problems are part of the result. */
export function compileProgram(
  text: string,
  use: ExpressionUse,
  scope: ExpressionScope,
  budget = new WorkBudget(),
): CompiledExpression {
  if (text === '') return { problem: { kind: 'invalid', detail: emptyProblem } };
  try {
    return budget.run(() => compiledProgram(text, use, environmentFor(use, scope)));
  } catch (error) {
    if (!(error instanceof CelError) || error.code === 'Interrupted') throw error;
    return failed(error);
  }
}

const failed = ({ message }: CelError): CompiledExpression => ({
  problem: { kind: 'invalid', detail: `compilation failed: ${message}` },
});

function compiledProgram(text: string, use: ExpressionUse, environment: Environment): CompiledExpression {
  const program = compile(text, environment);
  const type = program.outputType;
  if (use === 'deviceSelector') return { program, ...selectorResult(type) };
  const wanted = results[use];
  if (!wanted || wanted.some((one) => formatType(one) === formatType(type))) return { program, type };
  const names = wanted.map(formatType);
  const what = names.length === 1 ? names[0]! : `one of [${names.join(' ')}]`;
  return { problem: { kind: 'invalid', detail: `must evaluate to ${what} but got ${formatType(type)}` } };
}

export const compileExpression: ExpressionCompiler = (text, use, scope) =>
  once((budget) => {
    try {
      return compileProgram(text, use, scope, budget);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return failed(error);
    }
  });

/** The types of attributes are not known statically. */
const selectorResult = (type: Type): ExpressionResult =>
  type.kind === 'bool' || isDyn(type)
    ? { type }
    : { problem: { kind: 'invalid', detail: `must evaluate to bool or the unknown type, not ${formatType(type)}` } };

export type { ExpressionScope, ExpressionUse } from './expressions.ts';

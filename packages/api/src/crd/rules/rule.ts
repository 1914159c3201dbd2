/** One rule of `x-kubernetes-validations`, compiled against the type of its value. */

import { CelError, compile, kubernetesEnvironment, optionalOf, withVariables } from '@hangar/cel';
import type { Environment, Program, Type, WorkBudget } from '@hangar/cel';
import type { JsonSchema, ValidationRule } from '../json-schema.ts';
import { resolveFieldPath } from './field-path.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program | undefined;
  /** Why there is no program. */
  readonly error: string | undefined;
  readonly message: Program | undefined;
  readonly messageError: string | undefined;
  /** A transition rule: there must be something to compare with. */
  readonly usesOldSelf: boolean;
  /** The rule or its message refers to `oldSelf`. */
  readonly needsOldSelf: boolean;
  /** Path of its errors, below the value; empty for the value itself. */
  readonly fieldPath: string;
}

/** Libraries never change: a rule adds only its variables. */
let base: Environment | undefined;

/** Compiles the rules of one schema, one after the other. */
export class RuleCompiler {
  readonly #schema: JsonSchema;
  readonly #plain: Environment;
  readonly #optional: Environment;

  constructor(schema: JsonSchema, type: Type) {
    base ??= kubernetesEnvironment({});
    this.#schema = schema;
    this.#plain = withVariables(base, { self: type, oldSelf: type });
    this.#optional = withVariables(base, { self: type, oldSelf: optionalOf(type) });
  }

  /** Throws `CelError` with code `Interrupted`. Other problems of the rule are part of the result. */
  compile(rule: ValidationRule, budget: WorkBudget | undefined): CompiledRule {
    return compileRule(this.#schema, rule, {
      environment: rule.optionalOldSelf ? this.#optional : this.#plain,
      budget,
    });
  }
}

const blank: Omit<CompiledRule, 'rule'> = {
  program: undefined,
  error: undefined,
  message: undefined,
  messageError: undefined,
  usesOldSelf: false,
  needsOldSelf: false,
  fieldPath: '',
};

/** The result for a rule whose compilation is interrupted repeatedly. */
export const interruptedRule = (rule: ValidationRule, { message }: CelError): CompiledRule => ({
  ...blank,
  rule,
  error: `compilation failed: ${message}`,
});

interface RuleContext {
  readonly environment: Environment;
  readonly budget: WorkBudget | undefined;
}

function compileRule(schema: JsonSchema, rule: ValidationRule, context: RuleContext): CompiledRule {
  if (rule.rule.trim() === '') return { ...blank, rule };
  const condition = compileText(rule.rule, context, 'bool');
  if (condition.program === undefined) {
    const problem = condition.issues === undefined ? 'cel expression must evaluate to a bool' : condition.issues;
    return { ...blank, rule, error: problem };
  }
  const { program } = condition;
  const message = rule.messageExpression ? compileText(rule.messageExpression, context, 'string') : undefined;
  const path = rule.fieldPath ? resolveFieldPath(rule.fieldPath, schema, true) : '';
  return {
    rule,
    program,
    error: undefined,
    message: message?.program,
    messageError:
      message === undefined || message.program !== undefined
        ? undefined
        : `messageExpression ${message.issues ?? 'must evaluate to a string'}`,
    usesOldSelf: program.variables.includes('oldSelf'),
    needsOldSelf: [program, message?.program].some((one) => one?.variables.includes('oldSelf')),
    fieldPath: typeof path === 'string' ? '' : path.text,
  };
}

interface Compiled {
  readonly program?: Program;
  /** Absent when it compiles, but to a value of another type. */
  readonly issues?: string;
}

function compileText(text: string, { environment, budget }: RuleContext, type: Type['kind']): Compiled {
  try {
    const program = compile(text, environment, { budget });
    return program.outputType.kind === type ? { program } : {};
  } catch (error) {
    if (!(error instanceof CelError) || error.code === 'Interrupted') throw error;
    return { issues: `compilation failed: ${error.message}` };
  }
}

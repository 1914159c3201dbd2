/** CEL conditions for calling an authorization webhook. Loaded when there is a condition. */

import { CelError, boolType, compile, kubernetesEnvironment, listOf, mapOf, stringType, shownType } from '@hangar/cel';
import type { ObjectType, Program, Type } from '@hangar/cel';
import type { JsonObject } from '@hangar/api';

/** A failed condition, which counts as a failure of the webhook. */
export class ConditionError extends Error {}

const object = (name: string, fields: Readonly<Record<string, Type>>): ObjectType => ({
  kind: 'object',
  name: `kubernetes.${name}`,
  fields: new Map(Object.entries(fields).map(([field, type]) => [field, { type }])),
});

const texts = (...names: readonly string[]): Record<string, Type> =>
  Object.fromEntries(names.map((name) => [name, stringType]));

const requirement = object('SelectorRequirement', { ...texts('key', 'operator'), values: listOf(stringType) });
const selector = (name: string): ObjectType =>
  object(name, { ...texts('rawSelector'), requirements: listOf(requirement) });

const resourceFields = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];

const requestType = object('SubjectAccessReviewSpec', {
  resourceAttributes: object('ResourceAttributes', {
    ...texts(...resourceFields),
    fieldSelector: selector('FieldSelectorAttributes'),
    labelSelector: selector('LabelSelectorAttributes'),
  }),
  nonResourceAttributes: object('NonResourceAttributes', texts('path', 'verb')),
  ...texts('user', 'uid'),
  groups: listOf(stringType),
  extra: mapOf(stringType, listOf(stringType)),
});

export class MatchConditions {
  readonly #programs: readonly Program[];

  /** Throws a CelError. */
  constructor(expressions: readonly string[]) {
    const environment = kubernetesEnvironment({ request: requestType });
    this.#programs = expressions.map((expression) => compile(expression, environment));
  }

  /** Returns the problem of an expression; undefined if it is valid. */
  static problemOf(expression: string): string | undefined {
    try {
      const { outputType } = compile(expression, kubernetesEnvironment({ request: requestType }));
      if (outputType.kind === boolType.kind) return undefined;
      return `must evaluate to bool but got ${shownType(outputType)}`;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return `compilation failed: ${error.message}`;
    }
  }

  /** Returns false if any condition is false; otherwise throws a ConditionError if a condition failed. */
  match(spec: JsonObject): boolean {
    const request = whole(spec);
    const failures: string[] = [];
    for (const program of this.#programs) {
      try {
        const { value } = program.evaluate({ request });
        if (value === false) return false;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        failures.push(`cel evaluation error: expression '${program.source}' resulted in error: ${error.message}`);
      }
    }
    if (failures.length === 0) return true;
    throw new ConditionError(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`);
  }
}

/** Sets absent strings to empty strings, which expressions can read. */
function whole({ resourceAttributes, nonResourceAttributes, user, uid, groups, extra }: JsonObject): JsonObject {
  return {
    user: user ?? '',
    uid: uid ?? '',
    groups: groups ?? [],
    extra: extra ?? {},
    ...(resourceAttributes
      ? {
          resourceAttributes: {
            ...Object.fromEntries(resourceFields.map((name) => [name, ''])),
            ...resourceAttributes,
          },
        }
      : {}),
    ...(nonResourceAttributes ? { nonResourceAttributes: { path: '', verb: '', ...nonResourceAttributes } } : {}),
  };
}

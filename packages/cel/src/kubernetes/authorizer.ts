/**
 * The `authorizer` variable of admission expressions: builds a question step by step, `check` evaluates it. The authorizer is injected; it
 * must answer synchronously, because expressions do not wait.
 */

import { method } from '../environment.ts';
import type { Library } from '../environment.ts';
import { fail } from '../errors.ts';
import { labelProblems, subdomainProblems } from './names.ts';
import * as t from '../types.ts';
import { Opaque } from '../values/values.ts';

export interface AuthorizationQuestion {
  /** The service account to check instead of the request's user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/** Answers a question for a verb. */
export type Authorize = (question: AuthorizationQuestion, verb: string) => AuthorizationAnswer;

class Question extends Opaque {
  readonly kind: string;
  readonly authorize: Authorize;
  readonly question: AuthorizationQuestion;

  constructor(kind: string, authorize: Authorize, question: AuthorizationQuestion) {
    super();
    this.kind = kind;
    this.authorize = authorize;
    this.question = question;
  }

  override get typeName(): string {
    return `kubernetes.authorization.${this.kind}`;
  }

  override equals(other: Opaque): boolean {
    return other === this;
  }

  with(kind: string, more: AuthorizationQuestion): Question {
    return new Question(kind, this.authorize, { ...this.question, ...more });
  }
}

class Decision extends Opaque {
  readonly answer: AuthorizationAnswer;

  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }

  override get typeName(): string {
    return 'kubernetes.authorization.Decision';
  }

  override equals(other: Opaque): boolean {
    return other === this;
  }
}

/** Returns the value of `authorizer`; with a starting question also of `authorizer.requestResource`. */
export function authorizerValue(authorize: Authorize): Opaque {
  return new Question('Authorizer', authorize, {});
}

/** Returns the value of `authorizer.requestResource`. */
export function requestResourceValue(authorize: Authorize, question: AuthorizationQuestion): Opaque {
  return new Question('ResourceCheck', authorize, question);
}

export const authorizerType = t.opaque('kubernetes.authorization.Authorizer');
const pathCheck = t.opaque('kubernetes.authorization.PathCheck');
const groupCheck = t.opaque('kubernetes.authorization.GroupCheck');
export const resourceCheckType = t.opaque('kubernetes.authorization.ResourceCheck');
const decision = t.opaque('kubernetes.authorization.Decision');
const { stringType: string, boolType: bool } = t;

const refine = (id: string, field: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector') => [
  method(id, [resourceCheckType, string], resourceCheckType, (of: Question, value: string) =>
    of.with('ResourceCheck', { [field]: value }),
  ),
];
const check = (of: Question, verb: string): Decision => new Decision(of.authorize(of.question, verb));

export const authorization: Library = {
  name: 'kubernetes authorization',
  types: [authorizerType, pathCheck, groupCheck, resourceCheckType, decision],
  functions: {
    path: [
      method('authorizer_path', [authorizerType, string], pathCheck, (of: Question, path: string) =>
        path.trim() === '' ? fail('path must not be empty') : of.with('PathCheck', { path }),
      ),
    ],
    group: [
      method('authorizer_group', [authorizerType, string], groupCheck, (of: Question, group: string) =>
        of.with('GroupCheck', { group }),
      ),
    ],
    serviceAccount: [
      method(
        'authorizer_serviceaccount',
        [authorizerType, string, string],
        authorizerType,
        (of: Question, namespace: string, name: string) => {
          if (subdomainProblems(name).length > 0) return fail('Invalid service account name');
          if (labelProblems(namespace).length > 0) return fail('Invalid service account namespace');
          return of.with('Authorizer', { serviceAccount: { namespace, name } });
        },
      ),
    ],
    resource: [
      method('groupcheck_resource', [groupCheck, string], resourceCheckType, (of: Question, resource: string) =>
        resource.trim() === '' ? fail('resource must not be empty') : of.with('ResourceCheck', { resource }),
      ),
    ],
    subresource: refine('resourcecheck_subresource', 'subresource'),
    namespace: refine('resourcecheck_namespace', 'namespace'),
    name: refine('resourcecheck_name', 'name'),
    fieldSelector: refine('authorizer_fieldselector', 'fieldSelector'),
    labelSelector: refine('authorizer_labelselector', 'labelSelector'),
    check: [
      method('pathcheck_check', [pathCheck, string], decision, check),
      method('resourcecheck_check', [resourceCheckType, string], decision, check),
    ],
    errored: [method('decision_errored', [decision], bool, ({ answer }: Decision) => answer.error !== undefined)],
    error: [method('decision_error', [decision], string, ({ answer }: Decision) => answer.error ?? '')],
    allowed: [method('decision_allowed', [decision], bool, ({ answer }: Decision) => answer.allowed)],
    reason: [method('decision_reason', [decision], string, ({ answer }: Decision) => answer.reason)],
  },
};

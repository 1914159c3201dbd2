/**
 * The CEL variable `authorizer`, which checks permissions of the user of the request or of a service account with the guard of the server.
 * Expressions are synchronous and authorizers may not be: a check without an immediate answer aborts the evaluation, which is repeated when
 * the answer arrives. Each check costs a third of the limit of an expression, so this terminates.
 */

import { authorizerValue, requestResourceValue } from '@hangar/cel';
import type { AuthorizationAnswer, AuthorizationQuestion, CelBindings } from '@hangar/cel';
import type { Judgement } from '../../auth/authorize.ts';
import { groupsOf, usernameOf } from '../../auth/service-accounts/names.ts';
import type { User } from '../../auth/user.ts';
import type { RequestInfo, Verb } from '../../request/info.ts';
import type { AdmissionRequest } from '../admission.ts';
import { namespaceOf } from '../matching/namespace.ts';

/** Thrown through an evaluation that needs an answer that is still pending. */
export class PendingAnswer extends Error {
  readonly answered: Promise<void>;

  constructor(answered: Promise<void>) {
    super('the authorizer has not responded yet');
    this.answered = answered;
  }
}

type Asked = Pick<AdmissionRequest, 'guard' | 'user' | 'resource' | 'subresource' | 'namespace' | 'name'>;

/** Returns the variables `authorizer` and `authorizer.requestResource` of one request. Each distinct check runs once. */
export function authorizerBindings(asked: Asked): CelBindings {
  const { guard, user, resource, subresource, name } = asked;
  const answers = new Map<string, AuthorizationAnswer>();
  const authorize = (question: AuthorizationQuestion, verb: string): AuthorizationAnswer => {
    const key = JSON.stringify([question, verb]);
    const known = answers.get(key);
    if (known) return known;
    const judgement = guard.judge(askedFor(question, user), infoOf(question, verb));
    if (judgement instanceof Promise) {
      throw new PendingAnswer(judgement.then((one) => void answers.set(key, answerOf(one))));
    }
    const answer = answerOf(judgement);
    answers.set(key, answer);
    return answer;
  };
  const own = { group: resource.group, resource: resource.name, subresource, namespace: namespaceOf(asked), name };
  return {
    authorizer: authorizerValue(authorize),
    'authorizer.requestResource': requestResourceValue(authorize, own),
  };
}

const answerOf = ({ decision, reason, error }: Judgement): AuthorizationAnswer => ({
  allowed: decision === 'allow',
  reason,
  ...(error ? { error: error.message } : {}),
});

/** A service account that was not authenticated is not in the group `system:authenticated`. */
const askedFor = ({ serviceAccount }: AuthorizationQuestion, user: User): User =>
  serviceAccount
    ? { name: usernameOf(serviceAccount), uid: '', groups: groupsOf(serviceAccount.namespace), extra: {} }
    : user;

function infoOf(question: AuthorizationQuestion, verb: string): RequestInfo {
  const { path, group = '', resource = '', subresource = '', namespace = '', name = '' } = question;
  if (path !== undefined) return { isResource: false, verb, path };
  // Any version: permissions do not depend on the version.
  const [version, rest] = ['*', ''];
  return { isResource: true, verb: verb as Verb, group, version, resource, subresource, namespace, name, rest };
}

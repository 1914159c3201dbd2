/** `authorizer`: what may the request's user, or a service account, do besides? The server's own guard answers. */

import { authorizerValue, requestResourceValue } from '@hangar/cel';
import type { AuthorizationAnswer, AuthorizationQuestion, CelBindings } from '@hangar/cel';
import type { Judgement } from '../../auth/authorize.ts';
import type { User } from '../../auth/user.ts';
import type { RequestInfo, Verb } from '../../request/info.ts';
import type { Attributes } from './attributes.ts';

/** Thrown through an evaluation whose answer is not there yet. */
export class PendingAnswer extends Error {
  readonly answered: Promise<void>;

  constructor(answered: Promise<void>) {
    super('the authorizer has not answered yet');
    this.answered = answered;
  }
}

/** The variables `authorizer` and `authorizer.requestResource` of one request; each question is asked once. */
export function authorizerBindings(attributes: Attributes): CelBindings {
  const { resource, namespace, request } = attributes;
  const { guard, user, subresource, name } = request;
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
  const own = { group: resource.group, resource: resource.resource, subresource, namespace, name };
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

function askedFor({ serviceAccount }: AuthorizationQuestion, user: User): User {
  if (!serviceAccount) return user;
  const { namespace, name } = serviceAccount;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: {},
  };
}

function infoOf(question: AuthorizationQuestion, verb: string): RequestInfo {
  const { path, group = '', resource = '', subresource = '', namespace = '', name = '' } = question;
  if (path !== undefined) return { isResource: false, verb, path };
  // Any version: a right is not one of a version.
  return {
    isResource: true,
    verb: verb as Verb,
    group,
    version: '*',
    resource,
    namespace,
    name,
    subresource,
    rest: '',
  };
}

/**
 * The `authorizer` of match conditions. Expressions do not wait, authorizers may: a question that is not answered at once
 * breaks the evaluation off, which is done again when there is an answer.
 */

import type { AuthorizationAnswer, AuthorizationQuestion, Authorize } from '@hangar/cel';
import type { Judgement } from '../../auth/authorize.ts';
import type { User } from '../../auth/user.ts';
import type { RequestInfo, Verb } from '../../request/info.ts';
import type { AdmissionRequest } from '../admission.ts';

/** Thrown through an evaluation that has to wait. */
class Unanswered extends Error {
  readonly answer: Promise<void>;

  constructor(answer: Promise<void>) {
    super('the authorizer has not answered yet');
    this.answer = answer;
  }
}

/** An expression costs what it asks: more questions than these do not fit into its budget. */
const questionsMax = 64;

/** Evaluates as often as answers are missing. */
export async function withAuthorizer<T>(request: AdmissionRequest, evaluate: (authorize: Authorize) => T): Promise<T> {
  const answers = new Map<string, AuthorizationAnswer>();
  const authorize: Authorize = (question, verb) => {
    const key = JSON.stringify([question, verb]);
    const known = answers.get(key);
    if (known) return known;
    const judging = request.guard.judge(subjectOf(request.user, question), infoOf(question, verb));
    if (!(judging instanceof Promise)) return remember(answers, key, judging);
    throw new Unanswered(judging.then((judgement) => void remember(answers, key, judgement)));
  };
  for (let asked = 0; asked < questionsMax; asked++) {
    try {
      return evaluate(authorize);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      await error.answer;
    }
  }
  throw new Error('too many questions to the authorizer');
}

function remember(answers: Map<string, AuthorizationAnswer>, key: string, judgement: Judgement): AuthorizationAnswer {
  const { decision, reason, error } = judgement;
  const answer = { allowed: decision === 'allow', reason, ...(error ? { error: error.message } : {}) };
  answers.set(key, answer);
  return answer;
}

function subjectOf(user: User, { serviceAccount }: AuthorizationQuestion): User {
  if (!serviceAccount) return user;
  const { namespace, name } = serviceAccount;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: {},
  };
}

function infoOf(question: AuthorizationQuestion, verb: string): RequestInfo {
  const { path, group = '', resource = '', subresource = '', namespace = '', name = '' } = question;
  if (path !== undefined) return { isResource: false, verb, path };
  const [version, rest] = ['*', ''];
  return { isResource: true, verb: verb as Verb, group, version, resource, subresource, namespace, name, rest };
}

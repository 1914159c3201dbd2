/** SelfSubjectRulesReview: lists the permissions of the user in a namespace. */

import { badRequest } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import type { Call } from '../verbs/call.ts';

const namespaceOf = (review: KubeObject): string =>
  (review['spec'] as { namespace?: string } | undefined)?.namespace ?? '';

export function checkRulesReview(review: KubeObject): void {
  if (namespaceOf(review) === '') throw badRequest('no namespace on request');
}

export async function reviewRules({ guard, user }: Call, review: KubeObject): Promise<JsonObject> {
  const { resourceRules, nonResourceRules, isIncomplete, problem } = await guard.rulesFor(user, namespaceOf(review));
  const evaluationError = problem === undefined ? {} : { evaluationError: problem };
  const status = { resourceRules, nonResourceRules, incomplete: isIncomplete, ...evaluationError };
  return { metadata: {}, spec: {}, status };
}

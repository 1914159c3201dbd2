/** Reviews of users and their permissions. A review is created, answered in its status, and never stored. */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { Answer } from '../http/message.ts';
import { objectAnswer } from '../objects/answers.ts';
import { kindReader } from '../objects/kind-reader.ts';
import { wanted } from '../request/media.ts';
import { readPosted } from '../subresources/posted.ts';
import type { Call } from '../verbs/call.ts';
import { admissionRequest } from '../verbs/admission-request.ts';
import { checkAccessReview, reviewAccess } from './access.ts';
import { checkRulesReview, reviewRules } from './rules.ts';
import { checkToken, reviewSelf, reviewToken } from './subject.ts';

interface Review {
  /** Throws if the review is invalid. */
  check?(call: Call, review: KubeObject): void;
  /** Returns the complete review with its result. */
  answer(call: Call, review: KubeObject): JsonObject | Promise<JsonObject>;
}

const access: Review = { check: checkAccessReview, answer: reviewAccess };

const reviews: Readonly<Record<string, Review>> = {
  SelfSubjectReview: { answer: reviewSelf },
  TokenReview: { check: (_call, review) => checkToken(review), answer: reviewToken },
  SelfSubjectAccessReview: access,
  SubjectAccessReview: access,
  LocalSubjectAccessReview: access,
  SelfSubjectRulesReview: { check: (_call, review) => checkRulesReview(review), answer: reviewRules },
};

async function answer(call: Call, { check, answer: answered }: Review): Promise<Answer> {
  const want = wanted(call.request.header('accept'), { hasProtobuf: true, allowsShapes: true, hasTable: false });
  const { plane, resource } = call;
  const { kind, apiVersion } = resource;
  const { object, options } = await readPosted(call, kindReader(apiVersion, kind));
  const request = admissionRequest(call, object, options);
  await plane.admission.mutate(request);
  check?.(call, object);
  await plane.admission.validate(request);
  return objectAnswer(call, want, { kind, apiVersion, ...(await answered(call, object)) }, 201);
}

type ReviewHandler = (call: Call) => Promise<Answer>;

export const reviewHandlers: Readonly<Record<string, { readonly create: ReviewHandler }>> = Object.fromEntries(
  Object.entries(reviews).map(([kind, review]) => [kind, { create: (call: Call) => answer(call, review) }]),
);

/** SelfSubjectReview and TokenReview. */

import { badRequest } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { hasCode } from '@hangar/core';
import type { Guard } from '../auth/guard.ts';
import type { User } from '../auth/user.ts';
import type { Call } from '../verbs/call.ts';
import { timestamp } from '../verbs/metadata.ts';

const userInfo = ({ name, uid, groups, extra }: User): JsonObject => ({
  ...(name === '' ? {} : { username: name }),
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
});

export function reviewSelf({ user, plane }: Call): JsonObject {
  return { metadata: { creationTimestamp: timestamp(plane.clock) }, status: { userInfo: userInfo(user) } };
}

interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
}

export function checkToken(review: KubeObject): void {
  const { token } = (review['spec'] ?? {}) as TokenReviewSpec;
  if (!token) throw badRequest('token is required for TokenReview in authentication');
}

export async function reviewToken({ guard }: Call, review: KubeObject): Promise<JsonObject> {
  const { token = '', audiences } = review['spec'] as TokenReviewSpec;
  return { ...review, status: await statusOf(guard, token, audiences?.length ? audiences : guard.audiences) };
}

async function statusOf(guard: Guard, token: string, asked: readonly string[]): Promise<JsonObject> {
  try {
    const proven = await guard.identifyToken(token, asked);
    if (!proven) return { user: {}, error: 'invalid bearer token' };
    return { authenticated: true, user: userInfo(proven.user), audiences: proven.audiences };
  } catch (error) {
    if (!hasCode(error, 'Unauthorized')) throw error;
    return { user: {}, error: `[invalid bearer token, ${(error as Error).message}]` };
  }
}

/** Who am I, and whose token is this? */

import { badRequest } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import type { User } from '../auth/user.ts';
import type { ServerRequest } from '../http/message.ts';
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
  const { token, audiences } = review['spec'] as TokenReviewSpec;
  const asked = audiences?.length ? audiences : guard.audiences;
  // Tokens that say nothing of audiences are for the API's own.
  const valid = asked.filter((one) => guard.audiences.includes(one));
  const user = valid.length > 0 ? await guard.identify(showing(token!)) : undefined;
  const status = user
    ? { authenticated: true, user: userInfo(user), audiences: valid }
    : { user: {}, error: 'invalid bearer token' };
  return { ...review, status };
}

/** A request that shows nothing but this token. */
const showing = (token: string): ServerRequest => ({
  method: 'GET',
  target: '/',
  peer: { address: '', certificate: undefined },
  header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
  body: () => Promise.resolve(new Uint8Array()),
});

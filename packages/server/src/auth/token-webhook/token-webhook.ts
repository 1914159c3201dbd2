/** Authenticates tokens with a TokenReview to another server. */

import { isObject, unauthorized } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { TokenAuthenticator, TokenIdentity } from '../tokens.ts';
import { textsOf } from '../jwt/jwt.ts';

/** Posts a review and returns the response. Rejects on failure. */
export type PostReview = (review: JsonObject) => Promise<unknown>;

export class TokenWebhook implements TokenAuthenticator {
  readonly #post: PostReview;

  constructor(post: PostReview) {
    this.#post = post;
  }

  async authenticateToken(token: string, audiences: readonly string[]): Promise<TokenIdentity | undefined> {
    const answer = await this.#post({
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { token, audiences: [...audiences] },
    });
    const status = isObject(answer) ? answer['status'] : undefined;
    if (!isObject(status)) throw new Error('the response of the token webhook is not a TokenReview');
    if (status['authenticated'] !== true) {
      const { error } = status;
      if (typeof error === 'string' && error !== '') throw unauthorized(error);
      return undefined;
    }
    return identityIn(status, audiences);
  }
}

function identityIn(status: JsonObject, asked: readonly string[]): TokenIdentity | undefined {
  const user = isObject(status['user']) ? status['user'] : {};
  const { username, uid, extra } = user;
  // A user without a name is invalid.
  if (typeof username !== 'string' || username === '')
    throw new Error('the response of the token webhook has no user name');
  const told = textsOf(status['audiences']) ?? [];
  const audiences = told.filter((one) => asked.includes(one));
  // The webhook is audience-aware and returned none of the requested audiences: the token is for another audience.
  if (told.length > 0 && audiences.length === 0) return undefined;
  return {
    user: {
      name: username,
      uid: typeof uid === 'string' ? uid : '',
      groups: textsOf(user['groups']) ?? [],
      extra: Object.fromEntries(
        Object.entries(isObject(extra) ? extra : {}).map(([name, values]) => [name, textsOf(values) ?? []] as const),
      ),
    },
    ...(told.length > 0 && { audiences }),
  };
}

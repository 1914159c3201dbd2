/** Authenticates and authorizes users, for requests and for reviews. */

import { lazy, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Authenticator } from './authenticate.ts';
import { AuthorizerUnion } from './authorization/union.ts';
import type { Authorizer, Decision, Judgement, SubjectRules } from './authorize.ts';
import { BearerAuthenticator } from './bearer.ts';
import { isPromise } from './promise.ts';
import type { ServiceAccounts } from './service-accounts/service-accounts.ts';
import { TokenCache } from './token-cache.ts';
import { isTokenAuthenticator, TokenUnion } from './tokens.ts';
import type { Proven, TokenAuthenticator } from './tokens.ts';
import type { User } from './user.ts';

export interface GuardOptions {
  /** Tried in order; token authenticators come last. */
  readonly authenticators: readonly (Authenticator | TokenAuthenticator)[];
  /** Further token authenticators for requests, tried last. Token reviews do not use them. */
  readonly visitors?: readonly TokenAuthenticator[];
  readonly authorizers: readonly Authorizer[];
  /** Audiences of tokens that name no audience. */
  readonly audiences?: readonly string[];
  /** Absent: no tokens are issued. */
  readonly serviceAccounts?: ServiceAccounts;
  /** Replaces the extras that only the server sets, in reviews of tokens. Absent: users are returned unchanged. */
  readonly scope?: (user: User) => User;
  readonly clock?: Clock;
  readonly random?: Random;
}

export class Guard {
  readonly audiences: readonly string[];
  /** Undefined when no tokens are issued. */
  readonly serviceAccounts: ServiceAccounts | undefined;
  readonly #authenticators: readonly Authenticator[];
  readonly #reviewed: () => TokenCache;
  readonly #authorizers: AuthorizerUnion;
  readonly #scope: GuardOptions['scope'];

  constructor({ authenticators, visitors = [], authorizers, serviceAccounts, ...options }: GuardOptions) {
    this.audiences = options.audiences ?? serviceAccounts?.audiences ?? ['https://kubernetes.default.svc'];
    this.serviceAccounts = serviceAccounts;
    this.#scope = options.scope;
    const { clock = systemClock, random = systemRandom } = options;
    const ofTokens = authenticators.filter(isTokenAuthenticator);
    const cacheOf = (all: readonly TokenAuthenticator[]): TokenCache =>
      new TokenCache(new TokenUnion(all, this.audiences), { clock, random });
    const tokens = cacheOf([...ofTokens, ...visitors]);
    this.#reviewed = visitors.length === 0 ? () => tokens : lazy(() => cacheOf(ofTokens));
    this.#authenticators = [
      ...authenticators.filter((one): one is Authenticator => !isTokenAuthenticator(one)),
      new BearerAuthenticator(tokens, this.audiences),
    ];
    this.#authorizers = new AuthorizerUnion(authorizers);
  }

  /** Returns undefined if the request has no known credentials. Synchronous if the result is cached. */
  identify(request: ServerRequest): User | undefined | Promise<User | undefined> {
    return this.#identifyFrom(0, request);
  }

  /** Like `identify`, without tokens: uses only the identity of the connection. */
  identifyConnection(request: ServerRequest): User | undefined | Promise<User | undefined> {
    return this.#identifyFrom(0, request, this.#authenticators.length - 1);
  }

  #identifyFrom(
    at: number,
    request: ServerRequest,
    end = this.#authenticators.length,
  ): User | undefined | Promise<User | undefined> {
    for (; at < end; at++) {
      const found = this.#authenticators[at]!.authenticate(request);
      if (isPromise(found)) {
        const following = at + 1;
        return found.then((user) => user ?? this.#identifyFrom(following, request, end));
      }
      if (found) return found;
    }
    return undefined;
  }

  /** Returns the identity of a token for one of the audiences. Rejects with `Unauthorized` if the reason why it is invalid is known. */
  async identifyToken(token: string, audiences: readonly string[]): Promise<Proven> {
    const proven = await this.#reviewed().authenticateToken(token, audiences);
    return proven && this.#scope ? { ...proven, user: this.#scope(proven.user) } : proven;
  }

  /** The first authorizer with an opinion decides. */
  async decide(user: User, info: RequestInfo): Promise<Decision> {
    return (await this.judge(user, info)).decision;
  }

  /**
   * Like `decide`, with reasons. A right that is limited to visible objects counts only for the name of one of them. Synchronous if all
   * consulted authorizers are. Never rejects: errors are part of the judgement.
   */
  judge(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    const judging = this.judgeLimited(user, info);
    return judging instanceof Promise
      ? judging.then((judgement) => withoutLimit(judgement, info))
      : withoutLimit(judging, info);
  }

  /** Like `judge`, for callers that limit what they do to the `visibility` of the judgement. */
  judgeLimited(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    return this.#authorizers.judge(user, info);
  }

  /** Returns the rules of all authorizers; incomplete if one of them cannot list its rules. */
  rulesFor(user: User, namespace: string): Promise<SubjectRules> {
    return this.#authorizers.rulesFor(user, namespace);
  }
}

function withoutLimit(judgement: Judgement, info: RequestInfo): Judgement {
  const { decision, reason, visibility } = judgement;
  if (decision !== 'allow' || !visibility) return judgement;
  const isVisible = info.isResource && info.name !== '' && visibility.has(info.namespace, info.name);
  return isVisible ? { decision, reason } : { decision: 'no opinion', reason: '' };
}

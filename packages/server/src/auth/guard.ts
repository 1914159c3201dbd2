/** Who asks and may they, asked by every request; reviews ask the same for others. */

import type { ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Authenticator } from './authenticate.ts';
import type { Authorizer, Decision, SubjectRules } from './authorize.ts';
import type { User } from './user.ts';

export interface GuardOptions {
  readonly authenticators: readonly Authenticator[];
  readonly authorizers: readonly Authorizer[];
  /** Whom tokens without an audience of their own are for. */
  readonly audiences?: readonly string[];
}

export class Guard {
  readonly audiences: readonly string[];
  readonly #authenticators: readonly Authenticator[];
  readonly #authorizers: readonly Authorizer[];

  constructor({ authenticators, authorizers, audiences = ['https://kubernetes.default.svc'] }: GuardOptions) {
    this.audiences = audiences;
    this.#authenticators = authenticators;
    this.#authorizers = authorizers;
  }

  /** Undefined: it shows nothing that is known here. */
  async identify(request: ServerRequest): Promise<User | undefined> {
    for (const authenticator of this.#authenticators) {
      const user = await authenticator.authenticate(request);
      if (user) return user;
    }
    return undefined;
  }

  /** The first authorizer with an opinion decides. */
  async decide(user: User, info: RequestInfo): Promise<Decision> {
    for (const authorizer of this.#authorizers) {
      const decision = await authorizer.authorize(user, info);
      if (decision !== 'no opinion') return decision;
    }
    return 'no opinion';
  }

  /** What all authorizers together allow; incomplete when one of them cannot list its rules. */
  async rulesFor(user: User, namespace: string): Promise<SubjectRules> {
    const all = await Promise.all(this.#authorizers.map(async (one) => one.rulesFor?.(user, namespace)));
    return {
      resourceRules: all.flatMap((rules) => rules?.resourceRules ?? []),
      nonResourceRules: all.flatMap((rules) => rules?.nonResourceRules ?? []),
      isIncomplete: all.some((rules) => rules?.isIncomplete ?? true),
    };
  }
}

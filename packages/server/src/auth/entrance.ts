/** Authenticates and authorizes incoming requests. Synchronous if the result is known. */

import { unauthorized } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { AuditRecord } from '../audit/auditor.ts';
import type { ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import { isPublicPath } from '../request/public-paths.ts';
import { anonymousHealth } from './anonymous.ts';
import type { AnonymousAccess } from './anonymous.ts';
import type { Judgement } from './authorize.ts';
import { forbidden } from './forbidden.ts';
import type { Guard } from './guard.ts';
import { isPromise } from './promise.ts';
import { anonymous } from './user.ts';
import type { User } from './user.ts';
import type { Visibility } from './visibility.ts';

/** Returns the error for a request with unknown credentials; undefined: 401, or anonymous access. */
export type StrangerRefusal = (request: ServerRequest) => StatusError | undefined;

const isRead = (verb: string): boolean => verb === 'get' || verb === 'head';

export class Entrance {
  readonly #guard: Guard;
  readonly #isLetIn: AnonymousAccess;
  readonly #refusal: StrangerRefusal | undefined;

  /** `isLetIn`: the paths that allow anonymous requests; absent: only health and version. */
  constructor(guard: Guard, isLetIn: AnonymousAccess = anonymousHealth, refusal?: StrangerRefusal) {
    this.#guard = guard;
    this.#isLetIn = isLetIn;
    this.#refusal = refusal;
  }

  /** Throws or rejects with 401, or with the error of `refusal`. */
  authenticate(request: ServerRequest, path: string): User | Promise<User> {
    const identifying = this.#guard.identify(request);
    if (isPromise(identifying)) return identifying.then((user) => user ?? this.#stranger(request, path));
    return identifying ?? this.#stranger(request, path);
  }

  #stranger(request: ServerRequest, path: string): User {
    const refusal = this.#refusal?.(request);
    if (refusal) throw refusal;
    // Invalid credentials are rejected even where none are needed.
    if (this.#isLetIn(path, request) && request.header('authorization') === undefined) return anonymous;
    throw unauthorized();
  }

  /** Returns the objects that the request is limited to; undefined: all. Throws or rejects with 403. */
  authorize(
    user: User,
    info: RequestInfo,
    audit: AuditRecord | undefined,
  ): Visibility | undefined | Promise<Visibility | undefined> {
    if (!info.isResource && isRead(info.verb) && isPublicPath(info.path)) {
      audit?.decided('allow', '');
      return undefined;
    }
    const judging = this.#guard.judge(user, info);
    if (judging instanceof Promise) return judging.then((judgement) => insistOn(user, info, judgement, audit));
    return insistOn(user, info, judging, audit);
  }
}

function insistOn(
  user: User,
  info: RequestInfo,
  { decision, reason, error, visibility }: Judgement,
  audit: AuditRecord | undefined,
): Visibility | undefined {
  audit?.decided(decision === 'allow' ? 'allow' : 'forbid', reason);
  if (decision === 'allow') return visibility;
  throw error ?? forbidden(user, info, reason);
}

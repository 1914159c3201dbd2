/** Who comes in, and whether he may do what he asks for. Nothing is waited for when it is known at once. */

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

/** Returns the answer to a request whose credentials are not known here; undefined: 401, or anonymous access. */
export type StrangerRefusal = (request: ServerRequest) => StatusError | undefined;

const isRead = (verb: string): boolean => verb === 'get' || verb === 'head';

export class Entrance {
  readonly #guard: Guard;
  readonly #isLetIn: AnonymousAccess;
  readonly #refusal: StrangerRefusal | undefined;

  /** `isLetIn`: where anonymous requests are allowed; absent: health and version alone. */
  constructor(guard: Guard, isLetIn: AnonymousAccess = anonymousHealth, refusal?: StrangerRefusal) {
    this.#guard = guard;
    this.#isLetIn = isLetIn;
    this.#refusal = refusal;
  }

  /** Throws or rejects with 401, or with the refusal for strangers. */
  authenticate(request: ServerRequest, path: string): User | Promise<User> {
    const identifying = this.#guard.identify(request);
    if (isPromise(identifying)) return identifying.then((user) => user ?? this.#stranger(request, path));
    return identifying ?? this.#stranger(request, path);
  }

  #stranger(request: ServerRequest, path: string): User {
    const refusal = this.#refusal?.(request);
    if (refusal) throw refusal;
    // Credentials that are not valid are refused even where none are needed.
    if (this.#isLetIn(path, request) && request.header('authorization') === undefined) return anonymous;
    throw unauthorized();
  }

  /** Throws or rejects with 403. */
  authorize(user: User, info: RequestInfo, audit: AuditRecord | undefined): void | Promise<void> {
    if (!info.isResource && isRead(info.verb) && isPublicPath(info.path)) return audit?.decided('allow', '');
    const judging = this.#guard.judge(user, info);
    if (judging instanceof Promise) return judging.then((judgement) => insistOn(user, info, judgement, audit));
    insistOn(user, info, judging, audit);
  }
}

function insistOn(
  user: User,
  info: RequestInfo,
  { decision, reason, error }: Judgement,
  audit: AuditRecord | undefined,
): void {
  audit?.decided(decision === 'allow' ? 'allow' : 'forbid', reason);
  if (decision === 'allow') return;
  throw error ?? forbidden(user, info, reason);
}

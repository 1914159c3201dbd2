/**
 * What the server asks of whoever shares it out: may this request go on now, and who is told when it is done. One for each
 * control plane, see `tenant-fairness.ts`; all of a process share one `FairQueue`.
 */

import type { User } from '../auth/user.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';

export interface Asked {
  /** As whom it acts. */
  readonly user: User;
  readonly info: RequestInfo;
  readonly request: ServerRequest;
}

export interface Fairness {
  /** A request comes. The time from now on is charged to the control plane with the next call of `runs` or `enter`. */
  arrives(): void;
  /** The request that arrived last is refused before its user is known. */
  refusedUnknown(): void;
  /** A request of a known user is at work from now on: after authentication, and after whatever it waited for. */
  runs(): void;
  /** Never throws; `waiting` says what becomes of the request. */
  enter(asked: Asked): Turn;
  /** A watch is served from now on; what it gives back is called when it ends. */
  watchBegan(resource: Resource): () => void;
}

/** One request's time. */
export interface Turn {
  /** Absent: it may go on at once. Rejects with 429, later than it could. */
  readonly waiting: Promise<void> | undefined;
  /** To be called once, with the answer, whatever it is; gives back what is sent. */
  left(answer: Answer, resource: Resource | undefined): Answer;
}

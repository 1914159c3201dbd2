/**
 * Interface between the server and fair queuing: admits requests and records their completion. One per control plane, see
 * `tenant-fairness.ts`; all of a process share one `FairQueue`.
 */

import type { User } from '../auth/user.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';

export interface Asked {
  /** The user after impersonation. */
  readonly user: User;
  readonly info: RequestInfo;
  readonly request: ServerRequest;
}

export interface Fairness {
  /** Called when a request arrives. The time from now on is charged to the control plane in the next call of `runs` or `enter`. */
  arrives(): void;
  /** Called when the last arrived request is rejected before its user is known. */
  refusedUnknown(): void;
  /** Called when a request of a known user starts to run: after authentication, and after each wait. */
  runs(): void;
  /** Never throws; `waiting` rejects if the request is rejected. */
  enter(asked: Asked): Turn;
  /** Called when a watch starts. The returned function is called when it stops. */
  watchBegan(resource: Resource): () => void;
}

/** The admission of one request. */
export interface Turn {
  /** Absent: the request runs at once. Rejects with 429 after a delay. */
  readonly waiting: Promise<void> | undefined;
  /** Releases the seat before the response, because the request waits for another machine. `left` must still be called. */
  leavesEarly(): void;
  /** Must be called once, with any response. Returns the response to send. */
  left(answer: Answer, resource: Resource | undefined): Answer;
}

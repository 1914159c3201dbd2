/**
 * What is in the way of asking a cluster: told when it lasts, and over with the first answer; where writes are refused for want of a
 * right, with the first that is not.
 */

import { asError, hasCode } from '@hangar/core';
import { oneLine } from '../kube/words.ts';
import type { Answered } from './cluster-transport.ts';
import type { Said } from './states.ts';

/** Requests in a row without an answer. One lost connection is no news. */
const unansweredMax = 3;
/** Writes in a row without the right to them. */
const refusedMax = 5;

const unanswered = ['ConnectionFailed', 'ConnectionLost', 'TimedOut', 'MalformedAnswer', 'CredentialsFailed'];

const unauthorized: Said = {
  phase: 'BackingOff',
  reason: 'Unauthorized',
  message: 'the cluster rejected the credentials of its kubeconfig',
};

const forbidden: Said = {
  phase: 'BackingOff',
  reason: 'Forbidden',
  message: 'the cluster forbids writes: the user of its kubeconfig lacks permissions',
};

export class Trouble {
  #said: Said | undefined;
  #lastError: string | undefined;
  #unanswered = 0;
  #refused = 0;

  get said(): Said | undefined {
    return this.#said;
  }

  /** Also when it is over. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  answered({ status, isWrite, refusal }: Answered): void {
    this.#unanswered = 0;
    if (status === 401) return this.#set(unauthorized);
    if (refusal !== undefined) {
      this.#lastError = oneLine(refusal);
      this.#refused++;
    } else if (isWrite) this.#refused = 0;
    this.#said = this.#refused >= refusedMax ? forbidden : undefined;
  }

  failed(error: unknown): void {
    const message = oneLine(asError(error).message);
    if (hasCode(error, 'KubeconfigPending') || hasCode(error, 'KubeconfigUnreadable')) {
      this.#set({ phase: 'Waiting', reason: error.code, message });
    } else if (hasCode(error, 'KubeconfigInvalid') || hasCode(error, 'AddressInvalid')) {
      this.#set({ phase: 'Failed', reason: error.code, message });
    } else if (unanswered.some((code) => hasCode(error, code))) {
      this.#lastError = message;
      if (++this.#unanswered >= unansweredMax)
        this.#set({ phase: 'BackingOff', reason: 'ClusterUnavailable', message });
    }
  }

  /** It is to be reached in another way now. */
  clear(): void {
    this.#said = undefined;
    this.#unanswered = 0;
    this.#refused = 0;
  }

  #set(said: Said): void {
    this.#said = said;
    this.#lastError = said.message;
  }
}

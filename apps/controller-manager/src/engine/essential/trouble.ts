/**
 * Tracks problems of requests to a cluster: reported when they last, and cleared by the first answer; refused writes are cleared by the
 * first write that is not refused.
 */

import { asError, hasCode } from '@hangar/core';
import { oneLine } from '../kube/words.ts';
import type { Answered } from './cluster-transport.ts';
import type { Said } from './states.ts';

/** Consecutive requests without an answer. A single lost connection is not reported. */
const unansweredMax = 3;
/** Consecutive writes that were forbidden. */
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

  /** Also after recovery. */
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

  /** Called when the connection details have changed. */
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

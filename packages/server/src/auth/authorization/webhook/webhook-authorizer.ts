/**
 * Delegates decisions to another service: posts a SubjectAccessReview and reads its status. Answers are cached, as every request needs one.
 * On failure, the failure policy decides: no opinion or deny.
 */

import { isObject, parseJson } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ClusterAccess } from '../../../outbound/cluster-access.ts';
import { postToCluster, UnsuccessfulPost } from '../../../outbound/cluster-post.ts';
import { OutboundError } from '../../../outbound/index.ts';
import type { Outbound } from '../../../outbound/index.ts';
import type { RequestInfo } from '../../../request/info.ts';
import { noRules } from '../../authorize.ts';
import type { Authorizer, Judgement, SubjectRules, Verdict } from '../../authorize.ts';
import type { User } from '../../user.ts';
import { KeptAnswers } from './kept-answers.ts';
import { review, reviewSpec } from './review.ts';
import type { ReviewVersion } from './review.ts';

export interface WebhookOptions {
  readonly access: ClusterAccess;
  readonly version: ReviewVersion;
  readonly timeoutMs: number;
  /** 0: not cached. */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  /** Absent: the webhook decides all requests. Throws if the result is unknown. */
  readonly matches?: (spec: JsonObject) => boolean;
  /** Aborts pending calls. They are denied regardless of the failure policy, because the webhook did not fail. */
  readonly signal: AbortSignal;
}

export interface WebhookStatus {
  readonly isAllowed: boolean;
  readonly isDenied: boolean;
  readonly reason: string;
}

/** As in kube-apiserver: half a second, then exponential backoff. */
const attemptsMax = 5;
const firstPauseMs = 500;
const pauseFactor = 1.5;
const answerBytesMax = 1024 * 1024;

export class WebhookAuthorizer implements Authorizer {
  readonly #options: WebhookOptions;
  readonly #outbound: Outbound;
  readonly #clock: Clock;
  readonly #kept: KeptAnswers<WebhookStatus>;

  constructor(options: WebhookOptions, { outbound, clock }: { outbound: Outbound; clock: Clock }) {
    this.#options = options;
    this.#outbound = outbound;
    this.#clock = clock;
    this.#kept = new KeptAnswers(clock);
  }

  authorize(user: User, info: RequestInfo): Verdict | Promise<Verdict> {
    const spec = reviewSpec(user, info);
    try {
      if (this.#options.matches && !this.#options.matches(spec)) return 'no opinion';
    } catch (error) {
      return this.#failed(error as Error);
    }
    const key = JSON.stringify(spec);
    const kept = this.#kept.get(key);
    return kept ? judgementOf(kept) : this.#ask(spec, key);
  }

  rulesFor(): SubjectRules {
    return { ...noRules, isIncomplete: true, problem: 'webhook authorizer does not support user rule resolution' };
  }

  async #ask(spec: JsonObject, key: string): Promise<Judgement> {
    let status: WebhookStatus;
    try {
      status = await this.#post(JSON.stringify(review(spec, this.#options.version)));
    } catch (error) {
      return this.#failed(error as Error);
    }
    const { authorizedMs, unauthorizedMs } = this.#options;
    this.#kept.set(key, status, status.isAllowed ? authorizedMs : unauthorizedMs);
    return judgementOf(status);
  }

  async #post(body: string): Promise<WebhookStatus> {
    const { access, timeoutMs, signal } = this.#options;
    const options = { timeoutMs, bytesMax: answerBytesMax, signal };
    for (let attempt = 1, pauseMs = firstPauseMs; ; attempt++, pauseMs *= pauseFactor) {
      try {
        const answer = await postToCluster(this.#outbound, access, body, options);
        return readStatus(answer.body);
      } catch (error) {
        if (attempt >= attemptsMax || !isTransient(error)) throw error;
        await sleep(this.#clock, pauseMs, signal);
      }
    }
  }

  /** A denial with an error is reported as an internal error. */
  #failed(error: Error): Judgement {
    const { failurePolicy, signal } = this.#options;
    return { decision: failurePolicy === 'Deny' || signal.aborted ? 'deny' : 'no opinion', reason: '', error };
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof UnsuccessfulPost
    ? [429, 500, 504].includes(error.status)
    : error instanceof OutboundError && error.code === 'Unreachable' && error.message === 'EOF';

function readStatus(body: Buffer): WebhookStatus {
  const { value } = parseJson(body);
  const status = isObject(value) ? value['status'] : undefined;
  if (!isObject(value) || value['kind'] !== 'SubjectAccessReview') {
    throw new Error('the response of the webhook is not a SubjectAccessReview');
  }
  const { allowed, denied, reason } = isObject(status) ? status : {};
  // Only `true` allows.
  return { isAllowed: allowed === true, isDenied: denied === true, reason: typeof reason === 'string' ? reason : '' };
}

function judgementOf({ isAllowed, isDenied, reason }: WebhookStatus): Judgement {
  if (!isDenied) return { decision: isAllowed ? 'allow' : 'no opinion', reason };
  if (!isAllowed) return { decision: 'deny', reason };
  const error = new Error('webhook subject access review returned both allow and deny response');
  return { decision: 'deny', reason, error };
}

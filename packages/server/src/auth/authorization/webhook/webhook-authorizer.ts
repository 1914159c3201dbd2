/**
 * Another service decides: it is posted a SubjectAccessReview and answers with its status. Answers are kept for a time, as
 * every request would ask. When it does not answer, its failure policy decides: no opinion, or no.
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
  /** 0: not kept. */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  /** Absent: it is asked about everything. Throws when it cannot tell. */
  readonly matches?: (spec: JsonObject) => boolean;
  /** Ends what is asked, with a refusal whatever the failure policy: it is not the webhook that failed. */
  readonly signal: AbortSignal;
}

export interface WebhookStatus {
  readonly isAllowed: boolean;
  readonly isDenied: boolean;
  readonly reason: string;
}

/** As kube-apiserver does it: half a second, then longer and longer. */
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

  /** An error besides a refusal is the server's fault, and told as that. */
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
  // Anything but true is not allowed.
  return { isAllowed: allowed === true, isDenied: denied === true, reason: typeof reason === 'string' ? reason : '' };
}

function judgementOf({ isAllowed, isDenied, reason }: WebhookStatus): Judgement {
  if (!isDenied) return { decision: isAllowed ? 'allow' : 'no opinion', reason };
  if (!isAllowed) return { decision: 'deny', reason };
  const error = new Error('webhook subject access review returned both allow and deny response');
  return { decision: 'deny', reason, error };
}

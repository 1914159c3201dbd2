/** Calls one webhook: sends the review and returns the verdict, a denial or a failure. */

import { badRequest } from '@hangar/api';
import { asError, uuid } from '@hangar/core';
import { AnswerBudget } from '../../outbound/answer-budget.ts';
import { postReview } from '../../outbound/review-client.ts';
import type { WebhookRejection } from '../../metrics/admission-metrics.ts';
import type { AdmissionRequest } from '../admission.ts';
import { denied } from './denied.ts';
import type { Invocation } from './invocation.ts';
import { readVerdict, reviewOf } from './review.ts';
import type { Verdict } from './review.ts';
import type { VersionedRequest } from './versions.ts';

/** The call failed or its response is invalid: `failurePolicy` decides. */
export class WebhookFailure extends Error {
  constructor(webhook: string, cause: Error) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${cause.message}`, { cause });
  }
}

/**
 * Returns the verdict of a webhook that allows the request. Rejects with a StatusError if it denies the request, with a WebhookFailure if
 * there is no verdict.
 */
export async function askWebhook(
  invocation: Invocation,
  shown: VersionedRequest,
  isMutating: boolean,
): Promise<Verdict> {
  const { webhook } = invocation;
  const { request } = shown;
  if (request.isDryRun && webhook.hasSideEffects) {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  }
  const verdict = await measured(invocation, shown, isMutating);
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) {
    request.annotate(`${webhook.name}/${key}`, value);
  }
  for (const text of verdict.warnings) request.warn(text);
  if (!verdict.isAllowed) throw denied(webhook.name, verdict.result);
  return verdict;
}

/** Records the call in the metrics of the control plane. */
async function measured(invocation: Invocation, shown: VersionedRequest, isMutating: boolean): Promise<Verdict> {
  const { name, ignoresFailure } = invocation.webhook;
  const { plane, operation } = shown.request;
  const beforeMs = plane.clock.monotonicMs();
  const called = (code: number, rejection?: WebhookRejection): void =>
    plane.metrics.admission.webhookCalled({
      name,
      isMutating,
      operation,
      code,
      seconds: (plane.clock.monotonicMs() - beforeMs) / 1_000,
      ...(rejection && { rejection }),
    });
  try {
    const verdict = await verdictOf(invocation, shown, isMutating);
    if (verdict.isAllowed) called(200);
    else {
      const { code } = denied(name, verdict.result).status;
      called(code!, { type: 'no_error', code: code! });
    }
    return verdict;
  } catch (error) {
    const code = error instanceof WebhookFailure ? 500 : 0;
    if (ignoresFailure) plane.metrics.admission.webhookFailedOpen(name, isMutating);
    const type = code === 0 ? 'apiserver_internal_error' : 'calling_webhook_error';
    called(code, ignoresFailure ? undefined : { type, code });
    throw error;
  }
}

/** Reports whether the deadline of the request has passed. Timers may fire slightly early. */
export const isOver = ({ plane, deadlineMs }: AdmissionRequest): boolean => plane.clock.monotonicMs() > deadlineMs - 1;

/** Limits the responses of all webhooks for one request: a few patches of the largest objects. */
const requestBytesMax = 16 * 1024 * 1024;
const budgets = new WeakMap<AdmissionRequest, AnswerBudget>();

function budgetOf(request: AdmissionRequest): AnswerBudget {
  let budget = budgets.get(request);
  if (!budget) budgets.set(request, (budget = new AnswerBudget(requestBytesMax, 'this request')));
  return budget;
}

async function verdictOf(
  { webhook, described }: Invocation,
  shown: VersionedRequest,
  isMutating: boolean,
): Promise<Verdict> {
  const { plane, deadlineMs } = shown.request;
  const { reviewVersion: version } = webhook;
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new WebhookFailure(webhook.name, new Error(`could not create admission objects: ${why}`));
  }
  const step = async <T>(what: string, take: () => T | Promise<T>): Promise<T> => {
    try {
      return await take();
    } catch (error) {
      throw new WebhookFailure(webhook.name, new Error(`${what}: ${asError(error).message}`, { cause: error }));
    }
  };
  const client = await step('could not get REST client', () => webhook.client());
  const uid = uuid(plane.random);
  const timeoutMs = Math.max(1, Math.min(webhook.timeoutMs, deadlineMs - plane.clock.monotonicMs()));
  const answer = await step('failed to call webhook', () =>
    postReview(plane, client, () => JSON.stringify(reviewOf(uid, version, described, shown)), {
      timeoutMs,
      tellsTimeout: true,
      budget: budgetOf(shown.request),
    }),
  );
  return step('received invalid webhook response', () => readVerdict(uid, version, answer, isMutating));
}

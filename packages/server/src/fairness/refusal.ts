/**
 * 429, in kube-apiserver's words. It sends them as plain text; here they come in a Status, which clients show as they are
 * and can read by reason. Clients of Kubernetes wait as long as `Retry-After` says and try again.
 */

import { quote, StatusError } from '@hangar/api';

const retryAfterSeconds = 1;

const refusal = (message: string): StatusError =>
  new StatusError('TooManyRequests', message, { details: { retryAfterSeconds } });

/** One for all: a flood of refusals makes no flood of stack traces. */
export const tooManyRequests = refusal('Too many requests, please try again later.');

export const beyondRate = (tenant: string, perSecond: number): StatusError =>
  refusal(
    `Too many requests, please try again later: control plane ${quote(tenant)} is limited to ${perSecond} requests per second.`,
  );

/** Nobody reads it. */
export const clientGone = refusal('the client closed the request before the response');

/**
 * 429 errors with the message of kube-apiserver, which sends plain text. Here they are a Status, so that clients can read the reason.
 * Kubernetes clients wait for `Retry-After` and retry.
 */

import { quote, StatusError } from '@hangar/api';

const retryAfterSeconds = 1;

const refusal = (message: string): StatusError =>
  new StatusError('TooManyRequests', message, { details: { retryAfterSeconds } });

/** Shared instance: avoids a stack trace per rejection. */
export const tooManyRequests = refusal('Too many requests, please try again later.');

export const beyondRate = (tenant: string, perSecond: number): StatusError =>
  refusal(
    `Too many requests, please try again later: control plane ${quote(tenant)} is limited to ${perSecond} requests per second.`,
  );

/** Never sent: the client is gone. */
export const clientGone = refusal('the client closed the request before the response');

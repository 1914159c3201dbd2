/** Errors of connections to nodes, pods and services, as clients receive them. */

import { serviceUnavailable, UnclassifiedError } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import { OutboundError } from '../outbound/errors.ts';

/** Returns 503 for an address that this server does not connect to, and for a stream that this server ends; undefined otherwise. */
export const refusal = (error: OutboundError): StatusError | undefined =>
  error.code === 'Refused' || error.code === 'Aborted' ? serviceUnavailable(error.message) : undefined;

/** Returns the error of a request to upgrade a connection. Other errors are returned unchanged. */
export const upgradeError = (error: unknown): unknown =>
  error instanceof OutboundError
    ? (refusal(error) ?? new UnclassifiedError(`error dialing backend: ${error.message}`, error))
    : error;

/** Returns the error of a proxied request. Other errors are returned unchanged. */
export const proxyError = (error: unknown): unknown =>
  error instanceof OutboundError
    ? (refusal(error) ?? serviceUnavailable(`error trying to reach service: ${error.message}`))
    : error;

/** Errors of outgoing calls. The messages are those of Go's client. */

import { CodedError } from '@hangar/core';

/**
 * `Refused`: the policy forbids the address. `Timeout`: no complete response in time. `Aborted`: the caller cancelled. `TooLarge`: more
 * bytes than the limit. `Unreachable`: all other network errors.
 */
export type OutboundErrorCode = 'Refused' | 'Timeout' | 'Aborted' | 'TooLarge' | 'Unreachable';

export class OutboundError extends CodedError<OutboundErrorCode> {}

interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

const untrusted = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

/** Converts an error of Node to an error of this module. */
export function outboundError(thrown: unknown): OutboundError {
  if (thrown instanceof OutboundError) return thrown;
  const error = thrown as SystemError;
  // Of several addresses the error of the last one is reported, as if it were the only one.
  const cause = error instanceof AggregateError ? ((error.errors.at(-1) ?? error) as SystemError) : error;
  return new OutboundError('Unreachable', textOf(cause), { cause: error });
}

function textOf({ code = '', message, address = '', port, hostname }: SystemError): string {
  const where = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${where}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `dial tcp ${where}: connect: no route to host`;
    case 'ENETUNREACH':
      return `dial tcp ${where}: connect: network is unreachable`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: ${message}`;
    default:
      return untrusted.has(code)
        ? 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
        : message;
  }
}

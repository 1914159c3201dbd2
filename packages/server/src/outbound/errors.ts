/** Why a call that the server made did not come to an answer. The texts are those that Go's client would give. */

import { CodedError } from '@hangar/core';

/**
 * `Refused`: the policy does not let the server go there. `Timeout`: no whole answer in time. `Aborted`: whoever asked does
 * not wait any more. `TooLarge`: more bytes than were asked for. `Unreachable`: everything else between here and there.
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

/** What Node says of a failure, as an error of this module. */
export function outboundError(thrown: unknown): OutboundError {
  if (thrown instanceof OutboundError) return thrown;
  const error = thrown as SystemError;
  // Of several addresses the last one's failure is told, as of one that was tried alone.
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

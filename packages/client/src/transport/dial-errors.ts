/** Converts connection errors to messages that say what to do. */

import { asError } from '@hangar/core';
import { ClientError } from '../errors.ts';

const unknownAuthority = 'x509: certificate signed by unknown authority: it does not match the configured CA';

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by the server',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'temporary failure in name resolution',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'x509: certificate has expired',
  CERT_NOT_YET_VALID: 'x509: certificate is not yet valid',
  CERT_REVOKED: 'x509: certificate was revoked',
  INVALID_PURPOSE: 'x509: certificate is not valid for server authentication',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS: use http:// instead of https://?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not speak TLS: use http:// instead of https://?',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the server requires a client certificate',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'the server does not trust the CA of the client certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'the server rejected the client certificate',
};

/** Returns the error of any step of connecting to `to`. */
export function dialError(to: string, thrown: unknown): ClientError {
  if (thrown instanceof ClientError) return thrown;
  const cause = asError(thrown);
  return new ClientError('ConnectionFailed', `${to} cannot be reached: ${reasonOf(cause)}`, { cause });
}

function reasonOf(error: Error & { code?: string; reason?: string }): string {
  if (error.code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `x509: certificate is valid for other names: ${error.reason}`;
  const known = error.code === undefined ? undefined : words[error.code];
  if (known !== undefined) return known;
  // All addresses of the name failed.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(asError(error.errors[0]));
  return error.message || error.code || error.name;
}

/** Errors of gRPC calls. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */

import { CodedError } from '@hangar/core';

export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/**
 * How the call failed:
 * - `unsent`: the server certainly did not execute it (no connection, or the stream was refused);
 * - `lost`: the connection or the stream broke, or time ran out; whether the server executed it is unknown;
 * - `answered`: the server returned a status; its meaning depends on the message.
 */
export type Fate = 'unsent' | 'lost' | 'answered';

export class GrpcError extends CodedError<'GrpcError'> {
  readonly status: number;
  readonly fate: Fate;

  constructor(status: number, message: string, options: { fate: Fate; cause?: unknown }) {
    super('GrpcError', message, { cause: options.cause });
    this.status = status;
    this.fate = options.fate;
  }
}

/** Undefined for success. */
export function errorOfTrailers(status: string | undefined, message: string | undefined): GrpcError | undefined {
  if (status === '0') return undefined;
  const code = status !== undefined && /^\d{1,3}$/.test(status) ? Number(status) : grpcStatus.unknown;
  return new GrpcError(code, decodeMessage(message ?? '') || `gRPC status ${code}`, { fate: 'answered' });
}

/** Error of an answer that is not gRPC: from a proxy, or another server on that port. */
export function errorOfHttpStatus(status: number): GrpcError {
  const code =
    status === 401
      ? grpcStatus.unauthenticated
      : status === 403
        ? grpcStatus.permissionDenied
        : status === 429 || status === 502 || status === 503 || status === 504
          ? grpcStatus.unavailable
          : grpcStatus.unknown;
  return new GrpcError(code, `HTTP status ${status} instead of a gRPC response`, { fate: 'lost' });
}

/** `grpc-message` is percent-encoded UTF-8; malformed text is returned unchanged. */
export function decodeMessage(text: string): string {
  if (!text.includes('%')) return text;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const hex = text[at] === '%' ? /^[0-9a-fA-F]{2}/.exec(text.slice(at + 1, at + 3))?.[0] : undefined;
    if (hex) {
      bytes.push(parseInt(hex, 16));
      at += 2;
    } else bytes.push(...Buffer.from(text[at]!));
  }
  return Buffer.from(bytes).toString();
}

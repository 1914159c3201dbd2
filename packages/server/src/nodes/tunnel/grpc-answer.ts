/** Responses of gRPC calls. A refusal consists of a head only. */

import type { Answer, Headers } from '../../http/message.ts';

const contentType = 'application/grpc';

/** `grpc-message` is percent-encoded. */
export const grpcTrailers = (code: number, message: string): Headers => ({
  'grpc-status': String(code),
  ...(message === '' ? {} : { 'grpc-message': encodeURIComponent(message).replaceAll('%20', ' ') }),
});

export const grpcRefusal = (code: number, message: string): Answer => ({
  status: 200,
  headers: { 'content-type': contentType, ...grpcTrailers(code, message) },
  body: [],
});

export const grpcHeaders = (metadata: Headers): Headers => ({ 'content-type': contentType, ...metadata });

export const isGrpc = (type: string | undefined): boolean => type?.startsWith(contentType) ?? false;

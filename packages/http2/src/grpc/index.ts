/**
 * grpc: messages of gRPC calls over an HTTP/2 stream, for clients and servers. `MessageWriter` encodes a protobuf message with its gRPC
 * prefix, `MessageAssembler` splits a received byte stream into messages, `MessageReader` decodes one.
 */

export { MessageAssembler, messageBytesMax } from './framing.ts';
export { bytesField, MessageReader, owned, uintField } from './message-reader.ts';
export { MessageWriter } from './message-writer.ts';
export { decodeMessage, errorOfHttpStatus, errorOfTrailers, GrpcError, grpcStatus } from './status.ts';
export type { Fate } from './status.ts';

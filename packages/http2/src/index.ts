/**
 * http2: the common parts of both sides of an HTTP/2 connection (RFC 9113, RFC 7541). Read `frames`, then `incoming` and `outgoing`.
 * Streams are implemented by the users: the server's requests and answers are in `server/http/h2`, a client's are in `client/`.
 */

export { Allowance } from './allowance.ts';
export { ConnectionError, StreamError } from './errors.ts';
export { frame, FrameReader, numberFrame } from './frames.ts';
export { HpackDecoder } from './hpack/decoder.ts';
export type { HeaderLimits } from './hpack/decoder.ts';
export { encodedField, encodedFields, encodedHead, encodedPseudoField } from './hpack/encoder.ts';
export type { EncodedHeaders } from './hpack/encoder.ts';
export { Field, role } from './hpack/field.ts';
export type { Role } from './hpack/field.ts';
export { Incoming } from './incoming.ts';
export type { Received } from './incoming.ts';
export { Outgoing } from './outgoing.ts';
export type { Sender } from './outgoing.ts';
export {
  errorCode,
  flag,
  frameType,
  headerTableBytes,
  initialWindow,
  preface,
  setting,
  windowMax,
} from './protocol.ts';
export { ReceiveWindow } from './receive-window.ts';
export { settingsFrame } from './settings.ts';

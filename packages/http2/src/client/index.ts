/** The client's end of a connection. */

export { ClientSession } from './client-session.ts';
export type { ClientSessionOptions } from './client-session.ts';
export type { ClientStream, StreamEnd, StreamEvents } from './client-stream.ts';

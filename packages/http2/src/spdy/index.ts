/** SPDY/3.1, which API servers and kubelets use for exec, attach and port-forward. */

export { SpdyConnection } from './connection.ts';
export type { SpdyStreamHandler } from './connection.ts';
export { dataHead, flagFin, HeaderWriter, SpdyError, SpdyReader } from './frames.ts';
export type { SpdyHandler } from './frames.ts';
export { HeaderReader } from './headers.ts';
export { SpdyServerConnection } from './server-connection.ts';
export type { SpdyServerOptions, SpdyServerStream } from './server-connection.ts';

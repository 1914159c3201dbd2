/** Test code: streams, real S3 servers, and a proxy with faults. */

export * from './fault-proxy.ts';
export * from './s3-servers.ts';
export * from './streams.ts';

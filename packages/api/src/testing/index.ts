/** testing: the real servers that tests, benchmarks and conformance suites compare with. */

export * from './real-programs.ts';
export { startRealServer } from './real-server.ts';
export type { Answer, RealServer, RequestOptions } from './real-server.ts';

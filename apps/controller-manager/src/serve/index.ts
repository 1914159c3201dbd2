/**
 * serve: what the controller manager shows over HTTPS, and to whom.
 *
 *   /healthz /livez /readyz   health.ts
 *   /clusters                 clusters/: as JSON, and as a table
 *   /metrics                  metrics/: our own (own-metrics.ts) and every process's, merged
 */

export { ServeError } from './errors.ts';
export type { ServeErrorCode } from './errors.ts';
export type { CertificateOptions } from './certificates/serving.ts';
export type { Scrape, ScrapeLimits } from './metrics/scrape.ts';
export { ControllerManagerMetrics } from './own-metrics.ts';
export { startServing } from './start.ts';
export type { Served, ServingOptions } from './start.ts';

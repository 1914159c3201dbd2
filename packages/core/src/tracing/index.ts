/**
 * Exports traces of this process to the collector that the environment variables of OpenTelemetry name.
 *
 *     const tracing = await startTracing(process.env, { serviceName: 'hangar', onError });
 */

import { tracingOptions } from './environment.ts';
import type { Environment } from './environment.ts';

export { tracingOptions } from './environment.ts';
export type { TracingOptions } from './environment.ts';

export interface StartTracingOptions {
  /** The name of the service, unless the environment has one. */
  readonly serviceName: string;
  /** Receives failures of the export. */
  readonly onError: (error: Error) => void;
}

/** Returns undefined if the environment names no collector. The exporter is loaded only if it names one. `close` exports the last spans. */
export async function startTracing(
  environment: Environment,
  { serviceName, onError }: StartTracingOptions,
): Promise<{ close(): Promise<void> } | undefined> {
  const options = tracingOptions(environment, serviceName);
  if (!options) return undefined;
  const { exportSpans } = await import('./start.ts');
  return exportSpans(options, onError);
}

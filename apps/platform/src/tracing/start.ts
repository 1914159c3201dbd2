/** Traces of this process to the collector that the environment names. Loaded only when it names one. */

import { installTracer, systemClock } from '@hangar/core';
import type { TracingOptions } from './environment.ts';
import { OtlpExporter } from './otlp.ts';
import { SpanTracer } from './span-tracer.ts';

export function startTracing(
  { url, headers, resource, share }: TracingOptions,
  onError: (error: Error) => void,
): { close(): Promise<void> } {
  const exporter = new OtlpExporter({ url, headers, resource, clock: systemClock, onError });
  installTracer(new SpanTracer({ share, onEnd: (span) => exporter.add(span) }));
  return {
    close() {
      installTracer(undefined);
      return exporter.flush();
    },
  };
}

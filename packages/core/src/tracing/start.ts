/** Exports the spans of this process. Loaded only if the environment names a collector. */

import { systemClock } from '../clock.ts';
import { installTracer } from '../trace.ts';
import type { TracingOptions } from './environment.ts';
import { OtlpExporter } from './otlp.ts';
import { SpanTracer } from './span-tracer.ts';

export function exportSpans(
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

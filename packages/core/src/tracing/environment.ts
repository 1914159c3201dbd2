/** Reads the environment variables of OpenTelemetry for traces. */

import type { TraceAttributes } from '../trace.ts';

export interface TracingOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: TraceAttributes;
  readonly share: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined: tracing is off. */
export function tracingOptions(environment: Environment, serviceName = 'hangar'): TracingOptions | undefined {
  const own = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const common = environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!own && !common) return undefined;
  if (environment['OTEL_SDK_DISABLED'] === 'true' || environment['OTEL_TRACES_EXPORTER'] === 'none') return undefined;
  return {
    url: own || `${common!.replace(/\/+$/, '')}/v1/traces`,
    headers: {
      ...pairs(environment['OTEL_EXPORTER_OTLP_HEADERS']),
      ...pairs(environment['OTEL_EXPORTER_OTLP_TRACES_HEADERS']),
    },
    resource: {
      'service.name': environment['OTEL_SERVICE_NAME'] || serviceName,
      ...pairs(environment['OTEL_RESOURCE_ATTRIBUTES']),
    },
    share: shareOf(environment['OTEL_TRACES_SAMPLER'], environment['OTEL_TRACES_SAMPLER_ARG']),
  };
}

/** `a=1,b=2`, percent-encoded. */
function pairs(text: string | undefined): Record<string, string> {
  const entries = (text ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(entries);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shareOf(sampler: string | undefined, argument: string | undefined): number {
  if (sampler?.endsWith('always_off')) return 0;
  if (!sampler?.endsWith('traceidratio')) return 1;
  const share = Number(argument ?? 1);
  return share >= 0 && share <= 1 ? share : 1;
}

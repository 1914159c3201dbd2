/**
 * Traces: the parts of a request's time. Code names a piece of work with `traced`; without an installed tracer, that costs one comparison.
 */

export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Tracer {
  /** Runs it as a child of the current span. A rejection or exception is recorded and rethrown. */
  span<T>(name: string, attributes: TraceAttributes, run: () => T): T;
}

let installed: Tracer | undefined;

/** One tracer for the process; undefined: none. */
export function installTracer(tracer: Tracer | undefined): void {
  installed = tracer;
}

export const isTraced = (): boolean => installed !== undefined;

const none: TraceAttributes = {};

export function traced<T>(name: string, run: () => T, attributes?: () => TraceAttributes): T {
  return installed ? installed.span(name, attributes?.() ?? none, run) : run();
}

/**
 * Traces: what a request's time was spent on. Whoever does a piece of work names it with `traced`; where nobody installed a
 * tracer, that costs one comparison.
 */

export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Tracer {
  /** Runs it as a part of whatever called this. A rejection or exception is recorded, and passed on. */
  span<T>(name: string, attributes: TraceAttributes, run: () => T): T;
}

let installed: Tracer | undefined;

/** One for the process; undefined: none. */
export function installTracer(tracer: Tracer | undefined): void {
  installed = tracer;
}

export const isTraced = (): boolean => installed !== undefined;

const none: TraceAttributes = {};

export function traced<T>(name: string, run: () => T, attributes?: () => TraceAttributes): T {
  return installed ? installed.span(name, attributes?.() ?? none, run) : run();
}

/**
 * Spans of requests and reconciles, nested by caller. A request with a W3C `traceparent` header continues its trace; of other requests and
 * of reconciles, a share starts one.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { TraceAttributes, Tracer } from '../trace.ts';

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** True: an incoming request. False: a part of its work. */
  readonly isServer: boolean;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: TraceAttributes;
  /** The error, if it failed. */
  readonly error: string | undefined;
}

export interface SpanTracerOptions {
  /** Sampled share of traces that start here, between 0 and 1. */
  readonly share: number;
  readonly onEnd: (span: FinishedSpan) => void;
}

interface Context {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const invalidTrace = '0'.repeat(32);
const invalidSpan = '0'.repeat(16);

export class SpanTracer implements Tracer {
  readonly #options: SpanTracerOptions;
  readonly #current = new AsyncLocalStorage<Context>();

  constructor(options: SpanTracerOptions) {
    this.#options = options;
  }

  /**
   * With the attribute `traceparent` it starts the span of a request, with `isRoot` the span of other work that starts a trace. Other spans
   * are children of the current one.
   */
  span<T>(name: string, { traceparent: header, isRoot, ...attributes }: TraceAttributes, run: () => T): T {
    const isServer = header !== undefined;
    const parent = isServer ? parentIn(String(header)) : this.#current.getStore();
    // Other work without a request is not traced.
    if (!parent && !isServer && isRoot !== true) return run();
    const context: Context = {
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled: parent?.isSampled ?? Math.random() < this.#options.share,
    };
    if (!context.isSampled) return this.#current.run(context, run);
    const startNanos = nanos();
    const end = (error?: unknown): void =>
      this.#options.onEnd({
        traceId: context.traceId,
        spanId: context.spanId,
        parentSpanId: parent?.spanId,
        name,
        isServer,
        startNanos,
        endNanos: nanos(),
        attributes,
        error: error === undefined ? undefined : String((error as Error).message ?? error),
      });
    return ended(() => this.#current.run(context, run), end);
  }
}

function ended<T>(run: () => T, end: (error?: unknown) => void): T {
  try {
    const result = run();
    if (!(result instanceof Promise)) {
      end();
      return result;
    }
    result.then(
      () => end(),
      (error: unknown) => end(error),
    );
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}

function parentIn(header: string): Context | undefined {
  const match = traceparent.exec(header);
  const [, traceId, spanId, flags] = match ?? [];
  if (!traceId || !spanId || traceId === invalidTrace || spanId === invalidSpan) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

const originNanos = BigInt(Math.round(performance.timeOrigin * 1e3)) * 1_000n;
const nanos = (): bigint => originNanos + BigInt(Math.round(performance.now() * 1e6));

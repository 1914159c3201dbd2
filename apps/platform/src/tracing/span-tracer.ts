/**
 * Spans of requests, nested by who called whom. A request that says which trace it belongs to (W3C `traceparent`) goes on
 * with it; for others a share of them begins one.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { TraceAttributes, Tracer } from '@hangar/core';

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** A request that came in, or a part of its work. */
  readonly isServer: boolean;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: TraceAttributes;
  /** What it ended with, when that was a failure. */
  readonly error: string | undefined;
}

export interface SpanTracerOptions {
  /** Of traces that begin here, between 0 and 1. */
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

  /** `parent` under the name `traceparent` begins a span of a request; others belong to the one that is under way. */
  span<T>(name: string, { traceparent: header, ...attributes }: TraceAttributes, run: () => T): T {
    const isServer = header !== undefined;
    const parent = isServer ? parentIn(String(header)) : this.#current.getStore();
    // Work that no request asked for is nobody's trace.
    if (!parent && !isServer) return run();
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

/** Exports spans to a collector, by OTLP over HTTP as JSON: in batches, with a bounded queue. */

import type { Clock } from '../clock.ts';
import type { TraceAttributes } from '../trace.ts';
import type { FinishedSpan } from './span-tracer.ts';

export interface OtlpOptions {
  /** URL of the collector's traces: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: TraceAttributes;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
}

const batchLengthMax = 512;
const waitingMax = 4_096;
const batchWaitMs = 5_000;
const timeoutMs = 10_000;

export class OtlpExporter {
  readonly #options: OtlpOptions;
  #waiting: FinishedSpan[] = [];
  #timer: { cancel(): void } | undefined;
  #sending: Promise<void> | undefined;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  /** Drops spans that an unavailable collector does not accept: traces are a sample anyway. */
  add(span: FinishedSpan): void {
    if (this.#waiting.length >= waitingMax) return;
    this.#waiting.push(span);
    if (this.#waiting.length >= batchLengthMax) void this.flush();
    else this.#timer ??= this.#options.clock.after(batchWaitMs, () => void this.flush());
  }

  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#sending;
    const batch = this.#waiting.splice(0, batchLengthMax);
    if (batch.length === 0) return;
    this.#sending = this.#send(batch).catch((error: Error) => this.#options.onError(error));
    await this.#sending;
    this.#sending = undefined;
    if (this.#waiting.length > 0) await this.flush();
  }

  async #send(batch: readonly FinishedSpan[]): Promise<void> {
    const { url, headers, resource } = this.#options;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(exportRequest(batch, resource)),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`the trace collector answered ${answer.status}`);
  }
}

const internalKind = 1;
const serverKind = 2;
const errorCode = 2;

function exportRequest(spans: readonly FinishedSpan[], resource: TraceAttributes): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'hangar' }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

const spanOf = (span: FinishedSpan): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: span.isServer ? serverKind : internalKind,
  startTimeUnixNano: String(span.startNanos),
  endTimeUnixNano: String(span.endNanos),
  attributes: keyValues(span.attributes),
  status: span.error === undefined ? {} : { code: errorCode, message: span.error },
});

const keyValues = (attributes: TraceAttributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { installTracer, traced } from '../trace.ts';
import { tracingOptions } from './environment.ts';
import { SpanTracer } from './span-tracer.ts';
import type { FinishedSpan } from './span-tracer.ts';
import { startTracing } from './index.ts';

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function spansOf(work: () => unknown, share = 1): Promise<FinishedSpan[]> {
  const spans: FinishedSpan[] = [];
  installTracer(new SpanTracer({ share, onEnd: (span) => spans.push(span) }));
  try {
    await work();
  } catch {
    // Recorded.
  } finally {
    installTracer(undefined);
  }
  return spans;
}

const request = <T>(header: string, run: () => T): T => traced('request', run, () => ({ traceparent: header }));

test('spans belong to the one that called them, also across waiting, and the request to the trace that it names', async () => {
  const spans = await spansOf(() =>
    request(parent, async () => {
      await traced('outer', async () => {
        await Promise.resolve();
        traced('inner', () => 1);
      });
    }),
  );
  const [inner, outer, whole] = spans;
  assert.deepEqual([inner?.name, outer?.name, whole?.name], ['inner', 'outer', 'request']);
  assert.equal(inner?.parentSpanId, outer?.spanId);
  assert.equal(outer?.parentSpanId, whole?.spanId);
  assert.equal(whole?.parentSpanId, 'b7ad6b7169203331');
  assert.ok(spans.every(({ traceId }) => traceId === '0af7651916cd43dd8448eb211c80319c'));
  assert.ok(whole!.endNanos >= whole!.startNanos);
});

test('failures are recorded and passed on', async () => {
  const spans = await spansOf(() => request(parent, () => Promise.reject(new Error('no'))));
  assert.equal(spans[0]?.error, 'no');
  installTracer(new SpanTracer({ share: 1, onEnd: () => {} }));
  assert.throws(
    () =>
      request(parent, () => {
        throw new Error('thrown');
      }),
    /thrown/,
  );
  installTracer(undefined);
});

test('a trace that is not sampled leaves nothing, and neither does work without a request', async () => {
  assert.deepEqual(await spansOf(() => request(parent.replace(/01$/, '00'), () => traced('part', () => 1))), []);
  assert.deepEqual(await spansOf(() => request('', () => traced('part', () => 1)), 0), []);
  assert.deepEqual(await spansOf(() => traced('alone', () => 1)), []);
});

test('work that starts a trace is traced without a request, with its parts', async () => {
  const spans = await spansOf(() =>
    traced(
      'reconcile',
      () => traced('phase', () => 1),
      () => ({ isRoot: true, name: 'demo' }),
    ),
  );
  const [phase, whole] = spans;
  assert.equal(phase?.parentSpanId, whole?.spanId);
  assert.equal(whole?.parentSpanId, undefined);
  assert.equal(whole?.isServer, false);
  assert.deepEqual(whole?.attributes, { name: 'demo' });
});

test('a header that is none begins a trace of its own', async () => {
  for (const header of ['', 'nonsense', parent.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32))]) {
    const [span] = await spansOf(() => request(header, () => 1));
    assert.equal(span?.parentSpanId, undefined);
    assert.match(span!.traceId, /^[0-9a-f]{32}$/);
  }
});

test('the environment says where traces go and how many', () => {
  assert.equal(tracingOptions({}), undefined);
  assert.equal(tracingOptions({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'true' }), undefined);
  assert.deepEqual(
    tracingOptions({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20x,other=1',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }),
    {
      url: 'http://127.0.0.1:4318/v1/traces',
      headers: { authorization: 'Basic x', other: '1' },
      resource: { 'service.name': 'hangar', 'deployment.environment': 'test' },
      share: 0.25,
    },
  );
});

test('a collector is sent what OTLP says', async () => {
  const bodies: string[] = [];
  const collector = createServer((incoming, answer) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      bodies.push(`${incoming.url} ${incoming.headers['content-type']} ${body}`);
      answer.end('{}');
    });
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => collector.once('listening', resolve));
    const { port } = collector.address() as AddressInfo;
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const tracing = await startTracing(environment, { serviceName: 'hangar', onError: (error) => assert.fail(error) });
    request(parent, () =>
      traced(
        'part',
        () => 1,
        () => ({ 'http.status': 200, ratio: 0.5, ok: true }),
      ),
    );
    await tracing!.close();
    assert.equal(bodies.length, 1);
    assert.match(bodies[0]!, /^\/v1\/traces application\/json \{/);
    const { resourceSpans } = JSON.parse(bodies[0]!.slice(bodies[0]!.indexOf('{'))) as {
      resourceSpans: { scopeSpans: { spans: { name: string; kind: number; attributes: unknown[] }[] }[] }[];
    };
    const [part, whole] = resourceSpans[0]!.scopeSpans[0]!.spans;
    assert.deepEqual([part?.name, part?.kind, whole?.name, whole?.kind], ['part', 1, 'request', 2]);
    assert.deepEqual(part?.attributes, [
      { key: 'http.status', value: { intValue: '200' } },
      { key: 'ratio', value: { doubleValue: 0.5 } },
      { key: 'ok', value: { boolValue: true } },
    ]);
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
});

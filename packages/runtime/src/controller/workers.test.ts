import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CodedError, installTracer, sleep } from '@hangar/core';
import { RuntimeError, terminalError } from '../errors.ts';
import type { ReconcileContext, Request, Result } from './reconcile.ts';
import { triggered } from './testing/triggered.ts';

/** Numeric level in logs. */
const errorLevel = 50;
const result = (of: string): string => `controller_runtime_reconcile_total{controller="test",result="${of}"}`;
const own = (metric: string): string => `${metric}{controller="test"}`;
const dropped = (reason: string): string =>
  `hangar_runtime_dropped_requests_total{controller="test",reason="${reason}"}`;

describe('what a reconcile comes to', () => {
  test('success is forgotten, also when it is no result at all', async () => {
    const returned: unknown[] = [undefined, {}, null, 7, 'text', { requeueAfterMs: 0 }, { requeueAfterMs: NaN }];
    let runs = 0;
    await using the = await triggered({ reconcile: () => returned[runs++] as Result });
    void the.start();
    for (let i = 0; i < returned.length; i++) {
      the.trigger('x');
      await the.clock.advance(1_000);
    }
    assert.equal(runs, returned.length);
    assert.equal(the.controller.queueLength, 0);
    assert.equal(the.metric(result('success')), returned.length);
    assert.equal(the.metric(`controller_runtime_reconcile_time_seconds_count{controller="test"}`), returned.length);
  });

  test('an error is retried with back-off that success resets', async () => {
    const atMs: number[] = [];
    await using the = await triggered({
      reconcile: async () => {
        atMs.push(the.clock.monotonicMs());
        if (atMs.length !== 4 && atMs.length !== 6) throw new Error('not yet');
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(1_000);
    assert.deepEqual(atMs, [0, 5, 15, 35]);
    the.trigger('x');
    await the.clock.advance(1_000);
    assert.deepEqual(atMs.slice(4), [1_000, 1_005]);
    assert.equal(the.metric(result('error')), 4);
    assert.equal(the.metric(own('controller_runtime_reconcile_errors_total')), 4);
    const line = JSON.parse(the.lines.find((line) => line.includes('reconcile failed, retrying'))!) as Record<
      string,
      unknown
    >;
    assert.equal(line['controller'], 'test');
    assert.equal(line['cluster'], 'a');
    assert.equal(line['namespace'], 'default');
    assert.equal(line['name'], 'x');
    assert.match(String(line['reconcileID']), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  for (const code of ['Conflict', 'NotFound', 'AlreadyExists', 'UnknownKind']) {
    test(`${code} is retried without an error in the log until it persists`, async () => {
      let runs = 0;
      await using the = await triggered({
        reconcile: () => {
          runs++;
          throw new CodedError(code, 'another writer was faster');
        },
      });
      const levels = () => the.lines.map((line) => (JSON.parse(line) as { level: number }).level);
      void the.start();
      the.trigger('x');
      await the.clock.advance(1_000);
      assert.equal(runs, 8);
      assert.ok(the.lines.length > 0);
      assert.ok(!levels().includes(errorLevel), the.lines.join('\n'));
      assert.ok(!the.lines.some((line) => line.includes('workers.test.ts')), 'no stack trace');
      await the.clock.advance(10_000);
      assert.ok(levels().includes(errorLevel));
    });
  }

  test('requeueAfterMs comes again then, requeue with back-off', async () => {
    const atMs: number[] = [];
    const results: Result[] = [{ requeueAfterMs: 500 }, { requeue: true }, { requeue: true }, {}];
    await using the = await triggered({
      reconcile: () => {
        atMs.push(the.clock.monotonicMs());
        return results[atMs.length - 1];
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(10_000);
    assert.deepEqual(atMs, [0, 500, 505, 515]);
    assert.equal(the.metric(result('requeue_after')), 1);
    assert.equal(the.metric(result('requeue')), 2);
    assert.equal(the.metric(result('success')), 1);
  });

  test('a later look does not keep an event waiting', async () => {
    const atMs: number[] = [];
    await using the = await triggered({
      reconcile: () => {
        atMs.push(the.clock.monotonicMs());
        return { requeueAfterMs: 60_000 };
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(1_000);
    the.trigger('x');
    await the.clock.advance(59_000);
    assert.deepEqual(atMs, [0, 1_000]);
    await the.clock.advance(1_000);
    assert.deepEqual(atMs, [0, 1_000, 61_000]);
  });

  test('a terminal error is not retried, however it is wrapped', async () => {
    let runs = 0;
    await using the = await triggered({
      reconcile: () => {
        runs++;
        throw new Error('outer', { cause: new Error('middle', { cause: terminalError('never') }) });
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(10_000);
    assert.equal(runs, 1);
    assert.equal(the.metric(own('controller_runtime_terminal_reconcile_errors_total')), 1);
    assert.equal(the.metric(own('controller_runtime_reconcile_errors_total')), 1);
    assert.equal(the.metric(own('controller_runtime_reconcile_panics_total')), 0);
  });

  for (const code of ['ClusterNotFound', 'ClusterNotOwned'] as const) {
    test(`${code} drops the request without a word`, async () => {
      let runs = 0;
      await using the = await triggered({
        reconcile: async () => {
          runs++;
          throw new RuntimeError(code, 'gone');
        },
      });
      void the.start();
      the.trigger('x');
      await the.clock.advance(10_000);
      assert.deepEqual([runs, the.controller.queueLength], [1, 0]);
      assert.equal(the.metric(dropped(code)), 1);
      assert.equal(the.metric(result('error')), 0);
      assert.deepEqual(the.lines, []);
    });
  }

  test('a write that was fenced is tried again: the right may be proven again, and else the cluster is given up', async () => {
    let runs = 0;
    await using the = await triggered({
      reconcile: async () => {
        if (++runs < 3) throw new RuntimeError('Fenced', 'not now');
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(1_000);
    assert.equal(runs, 3);
    assert.equal(the.metric(dropped('Fenced')), 2);
    assert.equal(the.metric(result('error')), 0);
    assert.deepEqual(the.lines, []);
  });
});

describe('containment', () => {
  const unreadable = {
    get requeueAfterMs(): number {
      throw new Error('unreadable');
    },
  };
  const thenable = (then: (resolve: (value: undefined) => void) => void): Promise<Result> =>
    Object.fromEntries([[['th', 'en'].join(''), then]]) as unknown as Promise<Result>;
  const oddities: Record<string, () => Result | Promise<Result>> = {
    'throws at once': () => assert.fail('at once'),
    rejects: () => Promise.reject(new Error('later')),
    'throws undefined': () => {
      throw undefined;
    },
    'rejects with what cannot be made a string': () => Promise.reject(Object.create(null)),
    'rejects with an error that cannot be written': () => {
      const message: Record<string, unknown> = {};
      message['message'] = message;
      return Promise.reject(Object.assign(new Error(), { message }));
    },
    'rejects with an error that cannot be read': () => {
      const fail = (): never => assert.fail('by the proxy');
      return Promise.reject(new Proxy(new Error('x'), { get: fail, getPrototypeOf: fail }));
    },
    'returns what cannot be read': () => unreadable,
    'resolves with what cannot be read': () => Promise.resolve(unreadable),
    'returns a thenable that throws': () => thenable(() => assert.fail('by the thenable')),
  };
  for (const [what, act] of Object.entries(oddities)) {
    test(`a reconciler that ${what} is counted and retried, and others go on`, async () => {
      const seen: string[] = [];
      await using the = await triggered({
        reconcile: ({ name }) => {
          seen.push(name);
          return name === 'odd' && seen.length === 1 ? act() : undefined;
        },
      });
      void the.start();
      the.trigger('odd', 'fine');
      await the.clock.advance(1_000);
      assert.deepEqual(seen, ['odd', 'fine', 'odd']);
      assert.equal(the.metric(result('error')), 1);
      assert.equal(the.metric(result('success')), 2);
      assert.equal(the.metric(own('controller_runtime_active_workers')), 0);
    });
  }

  test('defects are counted as panics, the world’s failures are not', async () => {
    const thrown: unknown[] = [
      new TypeError('x is not a function'),
      new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
      undefined,
      new RangeError('stack'),
      new CodedError('Conflict', 'changed meanwhile'),
    ];
    await using the = await triggered({
      reconcile: () => {
        if (thrown.length > 0) throw thrown.shift();
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(1_000);
    assert.equal(the.metric(own('controller_runtime_reconcile_errors_total')), 5);
    assert.equal(the.metric(own('controller_runtime_reconcile_panics_total')), 3);
  });

  test('a thenable that calls back twice counts once', async () => {
    await using the = await triggered({
      reconcile: () =>
        thenable((resolve) => {
          resolve(undefined);
          resolve(undefined);
        }),
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(1_000);
    assert.equal(the.metric(result('success')), 1);
  });
});

describe('concurrency', () => {
  test('is as high as was asked and never two of the same request', async () => {
    const running = new Set<string>();
    let most = 0;
    const runs: string[] = [];
    await using the = await triggered({
      concurrency: 3,
      reconcile: async ({ name }) => {
        if (running.has(name)) runs.push(`${name} twice at a time`);
        running.add(name);
        runs.push(name);
        most = Math.max(most, running.size);
        await sleep(the.clock, 10);
        running.delete(name);
      },
    });
    void the.start();
    the.trigger('a', 'b', 'c', 'd', 'e');
    await the.clock.advance(5);
    assert.equal(the.metric(own('controller_runtime_active_workers')), 3);
    assert.equal(the.metric(own('controller_runtime_max_concurrent_reconciles')), 3);
    for (let i = 0; i < 10; i++) the.trigger('a', 'b');
    await the.clock.advance(1_000);
    assert.equal(most, 3);
    assert.deepEqual(runs, ['a', 'b', 'c', 'd', 'e', 'a', 'b']);
  });

  test('of one cluster is bounded where that is asked', async () => {
    const running: string[] = [];
    await using the = await triggered({
      clusters: ['a', 'b'],
      concurrency: 4,
      maxPerCluster: 2,
      reconcile: async ({ cluster }) => {
        running.push(cluster);
        await sleep(the.clock, 10);
      },
    });
    void the.start();
    the.trigger('1', '2', '3', '4', '5');
    the.controller.trigger({ cluster: 'b', name: '1' });
    await the.clock.advance(5);
    assert.deepEqual(running.sort(), ['a', 'a', 'b']);
    await the.clock.advance(100);
    assert.equal(running.length, 6);
  });

  test('does not keep out others: a flood of reconciles that never wait lets timers and input through', async () => {
    let runs = 0;
    let runsWhenOthersCame = 0;
    await using the = await triggered({ reconcile: () => void runs++ });
    void the.start();
    for (let i = 0; i < 5_000; i++) the.trigger(`r${i}`);
    while (runs === 0) await new Promise((resolve) => setImmediate(resolve));
    runsWhenOthersCame = runs;
    assert.ok(runsWhenOthersCame <= 256, `${runsWhenOthersCame} reconciles in one turn`);
    await the.clock.until(() => runs === 5_000);
  });
});

describe('a reconcile that takes too long', () => {
  test('is told by its signal; ending in time it is a failure like others', async () => {
    let runs = 0;
    await using the = await triggered({
      reconcileTimeoutMs: 1_000,
      reconcile: async (_request, { signal }) => {
        if (++runs === 1) await sleep(the.clock, 60_000, signal);
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.advance(999);
    assert.equal(the.metric(own('controller_runtime_reconcile_timeouts_total')), 0);
    await the.clock.advance(100);
    assert.equal(the.metric(own('controller_runtime_reconcile_timeouts_total')), 1);
    assert.equal(runs, 2);
    assert.equal(the.metric(own('hangar_runtime_stuck_reconciles')), 0);
  });

  test('and never ends gives back its worker, stays locked, and is retried when it ends after all', async () => {
    const { promise: forEver, resolve: end } = Promise.withResolvers<void>();
    const runs: string[] = [];
    let signal: AbortSignal | undefined;
    await using the = await triggered({
      reconcileTimeoutMs: 1_000,
      reconcileGraceMs: 500,
      reconcile: (request, context) => {
        runs.push(request.name);
        if (request.name !== 'hung' || runs.length > 1) return undefined;
        ({ signal } = context);
        return forEver;
      },
    });
    void the.start();
    the.trigger('hung', 'other');
    await the.clock.advance(1_400);
    assert.equal(signal?.aborted, true);
    assert.equal((signal.reason as { code: string }).code, 'TimedOut');
    assert.deepEqual(runs, ['hung']);
    await the.clock.advance(200);
    assert.deepEqual(runs, ['hung', 'other']);
    assert.equal(the.metric(own('hangar_runtime_stuck_reconciles')), 1);
    assert.equal(the.metric(own('controller_runtime_active_workers')), 0);
    the.trigger('hung');
    await the.clock.advance(60_000);
    assert.deepEqual(runs, ['hung', 'other'], 'never two of the same');
    end();
    await the.clock.advance(10);
    assert.deepEqual(runs, ['hung', 'other', 'hung']);
    assert.equal(the.metric(own('hangar_runtime_stuck_reconciles')), 0);
  });
});

describe('the context', () => {
  test('is the cluster’s, with a signal and an ID of its own', async () => {
    const contexts: ReconcileContext[] = [];
    await using the = await triggered({ reconcile: (_request, context) => void contexts.push(context) });
    void the.start();
    the.trigger('x', 'y');
    await the.clock.settle();
    const [first, second] = contexts;
    assert.equal(first!.cluster.name, 'a');
    assert.equal(first!.client, first!.cluster.client);
    assert.equal(first!.signal, first!.signal);
    assert.notEqual(first!.signal, second!.signal);
    assert.equal(first!.log, first!.log);
    first!.log.info('one');
    second!.log.info('two');
    const ids = the.lines.map((line) => (JSON.parse(line) as { reconcileID: string }).reconcileID);
    assert.equal(new Set(ids).size, 2);
  });

  test('has the request as it was asked for and nothing else', async () => {
    const requests: Request[] = [];
    await using the = await triggered({ reconcile: (request) => void requests.push(request) });
    void the.start();
    const object = { cluster: 'a', namespace: 'n', name: 'x', spec: { large: true } };
    the.controller.trigger(object);
    object.name = 'changed';
    await the.clock.settle();
    assert.deepEqual(requests, [{ cluster: 'a', namespace: 'n', name: 'x' }]);
  });

  test('is a span with the names of what is reconciled', async () => {
    const spans: unknown[] = [];
    installTracer({
      span(name, attributes, run) {
        spans.push([name, { ...attributes, reconcileID: typeof attributes['reconcileID'] }]);
        return run();
      },
    });
    try {
      await using the = await triggered({ reconcile: () => {} });
      void the.start();
      the.trigger('x');
      await the.clock.settle();
      const attributes = { controller: 'test', cluster: 'a', namespace: 'default', name: 'x', reconcileID: 'string' };
      assert.deepEqual(spans, [['reconcile', attributes]]);
    } finally {
      installTracer(undefined);
    }
  });
});

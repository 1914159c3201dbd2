import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decide } from './decide.ts';
import type { Decision, ScaleInput, ScaleState } from './decide.ts';
import { recommendedReplicas } from './recommend.ts';
import type { Load } from './recommend.ts';
import { scaleSettings } from './settings.ts';
import type { ScaleSettings } from './settings.ts';

const settings: ScaleSettings = {
  min: 1,
  max: 8,
  targets: { inFlight: 100 },
  scaleUpDelayMs: 30_000,
  scaleDownDelayMs: 300_000,
};
const periodMs = 15_000;

/** `each`: requests in flight in each of the measured API servers. */
const inFlight = (ready: number, each: number, measured = ready): Load => ({
  ready,
  measured,
  inFlight: each * measured,
  cpuCores: 0,
});

/** A control plane whose desired number the autoscaler sets. */
class Scaled {
  state: ScaleState | undefined;
  current: number;
  nowMs = 0;
  readonly settings: ScaleSettings;

  constructor(current: number, own: Partial<ScaleSettings> = {}) {
    this.current = current;
    this.settings = { ...settings, ...own };
  }

  /** Measures after the next period. */
  next(input: Partial<ScaleInput> = {}): Decision {
    const { current, nowMs } = this;
    const defaults = { nowMs, current, load: undefined, mayAdd: true, mayRemove: true };
    const given = { ...defaults, hasFailed: input.load === undefined, ...input };
    const decision = decide(this.state, given, this.settings);
    this.state = decision.state;
    this.current = decision.replicas;
    this.nowMs += periodMs;
    return decision;
  }

  /** Measures for some time. Returns the numbers after each measurement. */
  during(ms: number, input: () => Partial<ScaleInput>): number[] {
    return Array.from({ length: ms / periodMs }, () => this.next(input()).replicas);
  }
}

test('the ratio of the load to its target determines the number', () => {
  const { targets } = settings;
  assert.equal(recommendedReplicas(2, inFlight(2, 150), targets), 3);
  assert.equal(recommendedReplicas(2, inFlight(2, 109), targets), 2, 'within the tolerance');
  assert.equal(recommendedReplicas(4, inFlight(4, 20), targets), 1);
  assert.equal(recommendedReplicas(3, inFlight(3, 0), targets), 1, 'never none');
  assert.equal(recommendedReplicas(5, inFlight(2, 150), targets), 5, 'three API servers are about to start');
});

test('an API server without measurement is idle for more API servers, and busy for fewer', () => {
  const { targets } = settings;
  assert.equal(recommendedReplicas(3, inFlight(3, 20, 2), targets), 3);
  assert.equal(recommendedReplicas(2, inFlight(2, 150, 1), targets), 2);
  assert.equal(recommendedReplicas(2, inFlight(2, 450, 1), targets), 5);
});

test('the largest result of all targets counts', () => {
  const load = { ready: 2, measured: 2, inFlight: 20, cpuCores: 3, latencySeconds: 2 };
  assert.equal(recommendedReplicas(2, load, { inFlight: 100, cpuCores: 1 }), 3);
  assert.equal(recommendedReplicas(2, load, { inFlight: 100, cpuCores: 1, latencySeconds: 0.5 }), 8);
  assert.equal(recommendedReplicas(2, load, { inFlight: 100, cpuCores: 1, latencySeconds: 10 }), 3);
});

test('latency adds API servers above its target, and removes one below half of it', () => {
  const of = (latencySeconds: number | undefined) =>
    recommendedReplicas(4, { ...inFlight(4, 0), latencySeconds }, { latencySeconds: 1 });
  assert.deepEqual([1.5, 1.05, 0.6, 0.4, undefined].map(of), [6, 4, 4, 3, 3]);
});

test('API servers are added at once, at most twice as many or 4 more, and again after the delay', () => {
  const scaled = new Scaled(1, { max: 32 });
  const load = () => ({ load: inFlight(1, 10_000) });
  assert.equal(scaled.next(load()).replicas, 5);
  assert.equal(scaled.next(load()).replicas, 5, 'within the delay');
  assert.equal(scaled.next(load()).replicas, 10);
  assert.deepEqual(scaled.during(120_000, load), [10, 20, 20, 32, 32, 32, 32, 32]);
  assert.equal(scaled.next(load()).reason, 'AtMaximum');
});

test('API servers are removed one at a time, when fewer were sufficient for the whole delay', () => {
  const scaled = new Scaled(4);
  const idle = () => ({ load: inFlight(scaled.current, 1) });
  assert.ok(scaled.during(300_000, idle).every((replicas) => replicas === 4));
  assert.deepEqual(scaled.during(180_000, idle), [3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1]);
  assert.equal(scaled.next(idle()).reason, 'AtMinimum');
});

test('one peak within the delay prevents a removal', () => {
  const scaled = new Scaled(2);
  const idle = () => ({ load: inFlight(2, 1) });
  scaled.during(285_000, idle);
  scaled.next({ load: inFlight(2, 100) });
  assert.ok(scaled.during(285_000, idle).every((replicas) => replicas === 2));
  assert.equal(scaled.during(30_000, idle).at(-1), 1);
});

test('a change by a user holds for the delay, and bounds apply at once', () => {
  const scaled = new Scaled(1);
  const idle = () => ({ load: inFlight(scaled.current, 1) });
  scaled.during(600_000, idle);
  scaled.current = 5;
  assert.ok(scaled.during(285_000, idle).every((replicas) => replicas === 5));
  assert.equal(scaled.during(30_000, idle).at(-1), 4);
  scaled.current = 20;
  assert.equal(scaled.next(idle()).replicas, 8);
  const tooFew = new Scaled(1, { min: 3 });
  assert.equal(tooFew.next().replicas, 3, 'also without a measurement');
});

test('nothing is removed while something else is in progress, and nothing is added while etcd is busy', () => {
  const idle = new Scaled(4);
  const input = () => ({ load: inFlight(4, 1), mayRemove: false });
  assert.ok(idle.during(1_200_000, input).every((replicas) => replicas === 4));
  const busy = new Scaled(1);
  assert.equal(busy.next({ load: inFlight(1, 900), mayAdd: false }).replicas, 1);
  assert.equal(busy.next({ load: inFlight(1, 900) }).replicas, 5);
});

test('a scaling is reported until its roll-out is complete, and failures after the third', () => {
  const scaled = new Scaled(1);
  assert.equal(scaled.next({ load: inFlight(1, 300) }).reason, 'ScalingUp');
  assert.equal(scaled.next({ load: inFlight(1, 300), mayRemove: false }).reason, 'ScalingUp');
  assert.equal(scaled.next({ load: inFlight(3, 100) }).reason, 'WithinBounds');
  const reasons = Array.from({ length: 4 }, () => scaled.next().reason);
  assert.deepEqual(reasons, ['WithinBounds', 'WithinBounds', 'MetricsUnavailable', 'MetricsUnavailable']);
  assert.equal(scaled.next({ load: inFlight(3, 100) }).reason, 'WithinBounds');
});

const anyInput = fc.record({
  each: fc.option(fc.double({ min: 0, max: 2_000, noNaN: true })),
  unmeasured: fc.nat(2),
  mayAdd: fc.boolean(),
  mayRemove: fc.boolean(),
  byUser: fc.option(fc.integer({ min: 1, max: 32 }), { freq: 20 }),
});

test('property: the number never leaves its bounds, changes by the allowed steps, and the state stays small', () => {
  const bounds = fc.tuple(fc.integer({ min: 1, max: 32 }), fc.integer({ min: 1, max: 32 }));
  fc.assert(
    fc.property(bounds, fc.integer({ min: 1, max: 32 }), fc.array(anyInput, { maxLength: 60 }), (pair, start, all) => {
      const [min, max] = [Math.min(...pair), Math.max(...pair)];
      const scaled = new Scaled(start, { min, max });
      for (const { each, unmeasured, mayAdd, mayRemove, byUser } of all) {
        scaled.current = byUser ?? scaled.current;
        const before = scaled.current;
        const load = each === null ? undefined : inFlight(before + unmeasured, each, before);
        const { replicas, state } = scaled.next({ load, mayAdd, mayRemove });
        assert.ok(state.history.length <= max + 2);
        if (replicas === before) continue;
        assert.ok(replicas >= min && replicas <= max);
        if (before < min || before > max) continue;
        assert.ok(replicas > before ? mayAdd : mayRemove);
        assert.ok(replicas <= Math.max(2 * before, before + 4) && replicas >= before - 1);
      }
    }),
  );
});

test('property: noise within the tolerance never changes the number', () => {
  const noise = fc.array(fc.double({ min: 0.91, max: 1.09, noNaN: true }), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), noise, (start, all) => {
      const scaled = new Scaled(start);
      for (const ratio of all) assert.equal(scaled.next({ load: inFlight(start, 100 * ratio) }).replicas, start);
    }),
  );
});

test('property: without a measurement of every ready API server, none is removed', () => {
  const input = fc.record({ each: fc.double({ min: 0, max: 50, noNaN: true }), isNone: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), fc.array(input, { maxLength: 100 }), (start, all) => {
      const scaled = new Scaled(start);
      for (const { each, isNone } of all) {
        const before = scaled.current;
        const load = isNone ? undefined : inFlight(before, each, before - 1);
        assert.ok(scaled.next({ load }).replicas >= before);
      }
    }),
  );
});

test('settings have the defaults of the reference', () => {
  assert.deepEqual(scaleSettings({ maxReplicas: 8 }), {
    min: 2,
    max: 8,
    targets: { inFlight: 100, cpuCores: undefined, latencySeconds: undefined },
    scaleUpDelayMs: 30_000,
    scaleDownDelayMs: 300_000,
  });
  const all = { maxReplicas: 1, targetCPU: '250m', targetLatency: '1s500ms', scaleUpDelay: '0s', scaleDownDelay: '1h' };
  assert.deepEqual(scaleSettings(all), {
    min: 1,
    max: 1,
    targets: { inFlight: undefined, cpuCores: 0.25, latencySeconds: 1.5 },
    scaleUpDelayMs: 0,
    scaleDownDelayMs: 3_600_000,
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { ControlPlaneMode } from '../api/index.ts';
import { decide } from './decide.ts';
import type { Candidate, Decision } from './decide.ts';
import { gapMaxMs, withMeasurement } from './history.ts';
import type { History } from './history.ts';
import { policyOf } from './policy.ts';
import type { Measurements, Metric, PromotionPolicy } from './policy.ts';

const policy = policyOf({
  mode: 'Automatic',
  toDedicated: { objects: 100, requestsPerSecond: 50, stallsPerHour: 10, stabilizationWindow: '10m' },
  toVirtual: { objects: 50, requestsPerSecond: 10, stabilizationWindow: '1h' },
  maxDedicated: 3,
  maxConcurrent: 1,
});
const periodMs = 30_000;

/** Control planes of a class whose migrations complete after `migrationPeriods`. */
class Fleet {
  nowMs = 0;
  readonly policy: PromotionPolicy;
  readonly migrationPeriods: number;
  readonly planes = new Map<string, Plane>();

  constructor(
    names: readonly string[],
    options: { readonly policy?: PromotionPolicy; readonly periods?: number } = {},
  ) {
    this.policy = options.policy ?? policy;
    this.migrationPeriods = options.periods ?? 0;
    for (const name of names) this.planes.set(name, new Plane(name));
  }

  candidates(): Candidate[] {
    return Array.from(this.planes.values(), (one) => one.candidate(this.nowMs));
  }

  /** Measures and acts after the next period. Unmeasured control planes have no history. */
  next(measured: Readonly<Record<string, Measurements>>): Decision[] {
    this.nowMs += periodMs;
    for (const [name, plane] of this.planes) plane.measure(measured[name] ?? {}, this.nowMs, this.policy);
    const decisions = decide(this.candidates(), this.policy, this.nowMs);
    for (const decision of decisions) this.planes.get(decision.name)!.act(decision, this.nowMs, this.migrationPeriods);
    return decisions;
  }

  during(ms: number, measured: (at: number) => Readonly<Record<string, Measurements>>): Decision[][] {
    return Array.from({ length: ms / periodMs }, (_, at) => this.next(measured(at)));
  }

  get migrating(): number {
    return [...this.planes.values()].filter(({ migratesUntilMs }) => migratesUntilMs > this.nowMs).length;
  }

  get dedicated(): number {
    return [...this.planes.values()].filter(({ mode }) => mode === 'Dedicated').length;
  }
}

class Plane {
  readonly name: string;
  mode: ControlPlaneMode = 'Virtual';
  history: History | undefined;
  changedAtMs = 0;
  migratesUntilMs = 0;
  promotedFor: Metric | undefined;
  readonly changes: number[] = [];

  constructor(name: string) {
    this.name = name;
  }

  candidate(nowMs: number): Candidate {
    const { name, history, changedAtMs, promotedFor } = this;
    const isMigrating = this.migratesUntilMs > nowMs;
    return { name, history, changedAtMs, promotedFor, isMigrating, isInBudget: this.mode === 'Dedicated' };
  }

  measure(measured: Measurements, nowMs: number, policy: PromotionPolicy): void {
    this.history = withMeasurement(this.history, { mode: this.mode, measured, nowMs }, policy);
  }

  act({ action, recommended }: Decision, nowMs: number, periods: number): void {
    if (action === 'stay') return;
    this.mode = action === 'promote' ? 'Dedicated' : 'Virtual';
    this.promotedFor = action === 'promote' ? recommended!.findings[0]!.metric : undefined;
    this.changedAtMs = nowMs;
    this.migratesUntilMs = nowMs + periods * periodMs;
    this.changes.push(nowMs);
  }
}

const actions = (decisions: readonly Decision[]): string[] =>
  decisions.filter(({ action }) => action !== 'stay').map(({ action, name }) => `${action} ${name}`);

describe('a control plane', () => {
  test('is promoted when one threshold is reached for the whole window', () => {
    const fleet = new Fleet(['a']);
    const all = fleet.during(1_260_000, () => ({ a: { objects: 100, requestsPerSecond: 1 } }));
    assert.deepEqual(
      all.map(actions).filter((one) => one.length > 0),
      [['promote a']],
    );
    assert.equal(fleet.planes.get('a')!.changes[0], 630_000, 'ten minutes after the first measurement');
  });

  test('stays if the threshold is not reached once in the window', () => {
    const fleet = new Fleet(['a']);
    const all = fleet.during(7_200_000, (at) => ({ a: { objects: at % 20 === 19 ? 99 : 1_000 } }));
    assert.deepEqual(all.flatMap(actions), []);
  });

  test('stays if two thresholds alternate', () => {
    const fleet = new Fleet(['a']);
    const all = fleet.during(7_200_000, (at) => ({
      a: at % 2 === 0 ? { objects: 1_000 } : { requestsPerSecond: 900 },
    }));
    assert.deepEqual(all.flatMap(actions), []);
  });

  test('returns when all measurements are below for the whole window', () => {
    const fleet = new Fleet(['a']);
    fleet.during(660_000, () => ({ a: { objects: 100 } }));
    assert.equal(fleet.planes.get('a')!.mode, 'Dedicated');
    const low = { objects: 49, requestsPerSecond: 9 };
    assert.deepEqual(fleet.during(3_570_000, () => ({ a: low })).flatMap(actions), []);
    assert.deepEqual(fleet.during(60_000, () => ({ a: low })).flatMap(actions), ['return a']);
  });

  test('does not return while a measurement is unknown', () => {
    const fleet = new Fleet(['a']);
    fleet.during(660_000, () => ({ a: { objects: 100 } }));
    assert.deepEqual(fleet.during(36_000_000, () => ({ a: { objects: 1 } })).flatMap(actions), []);
  });

  test('that was promoted for stalls does not return: the dedicated API server cannot show them', () => {
    const fleet = new Fleet(['a']);
    fleet.during(660_000, () => ({ a: { stallsPerHour: 10, objects: 1 } }));
    const all = fleet.during(36_000_000, () => ({ a: { objects: 1, requestsPerSecond: 1 } }));
    assert.deepEqual(all.flatMap(actions), []);
    assert.ok(all.flat().every(({ recommended }) => recommended === undefined));
  });

  test('that a user made dedicated is recommended to return, and stays', () => {
    const fleet = new Fleet(['a']);
    fleet.planes.get('a')!.mode = 'Dedicated';
    const [last] = fleet.during(7_200_000, () => ({ a: { objects: 1, requestsPerSecond: 1 } })).at(-1)!;
    assert.equal(last!.action, 'stay');
    assert.equal(last!.recommended!.to, 'Virtual');
    assert.match(last!.recommended!.blocked!, /a user set the mode/);
  });

  test('whose mode changed stays for a window, whatever it measures', () => {
    const fleet = new Fleet(['a']);
    fleet.during(480_000, () => ({ a: { objects: 1_000 } }));
    fleet.planes.get('a')!.changedAtMs = 480_000;
    assert.deepEqual(fleet.during(570_000, () => ({ a: { objects: 1_000 } })).flatMap(actions), []);
    assert.deepEqual(
      fleet.next({ a: { objects: 1_000 } }).flatMap((one) => actions([one])),
      ['promote a'],
    );
  });

  test('starts a new window after a gap in its measurements', () => {
    const fleet = new Fleet(['a']);
    fleet.during(600_000, () => ({ a: { objects: 1_000 } }));
    fleet.nowMs += gapMaxMs;
    assert.deepEqual(actions(fleet.next({ a: { objects: 1_000 } })), []);
  });

  test('is only recommended in mode Recommend', () => {
    const fleet = new Fleet(['a'], { policy: { ...policy, isAutomatic: false } });
    const last = fleet.during(1_200_000, () => ({ a: { objects: 120, requestsPerSecond: 500 } })).at(-1)!;
    assert.deepEqual(last, [
      {
        name: 'a',
        action: 'stay',
        recommended: {
          to: 'Dedicated',
          findings: [
            { metric: 'requestsPerSecond', value: 500, limit: 50 },
            { metric: 'objects', value: 120, limit: 100 },
          ],
        },
      },
    ]);
  });

  test('with an obstacle stays, and the recommendation has the obstacle', () => {
    const history = withMeasurement(undefined, { mode: 'Virtual', measured: { objects: 500 }, nowMs: 0 }, policy);
    const one = { name: 'a', history, changedAtMs: 0, isMigrating: false, isInBudget: false, obstacle: 'too long' };
    const [decision] = decide([one], policy, 600_000);
    assert.equal(decision!.action, 'stay');
    assert.equal(decision!.recommended!.blocked, 'too long');
  });
});

test('the largest control planes are promoted first, one migration at a time, up to the budget', () => {
  const names = ['e', 'd', 'c', 'b', 'a'];
  const measured = { a: { objects: 100 }, b: { objects: 300 }, c: { objects: 200 }, d: { objects: 300 }, e: {} };
  const fleet = new Fleet(names, { periods: 4 });
  const all = fleet.during(1_800_000, () => measured);
  assert.deepEqual(all.flatMap(actions), ['promote b', 'promote d', 'promote c']);
  const blocked = all.at(-1)!.find(({ name }) => name === 'a')!.recommended!.blocked;
  assert.match(blocked!, /maxDedicated of the class is 3/);
});

// Properties.

const amount = fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 200 }));
const anything = fc.record({ objects: amount, requestsPerSecond: amount, stallsPerHour: amount });
const names = ['a', 'b', 'c', 'd', 'e'];
const rounds = fc.array(fc.tuple(...names.map(() => anything)), { minLength: 50, maxLength: 400 });
/** Each round is measured for some periods, so that windows pass. */
const byName = (round: readonly Measurements[]) => Object.fromEntries(names.map((name, i) => [name, round[i]!]));

test('a control plane inside of the band never changes its mode', () => {
  // Each measurement lasts longer than both windows.
  const inside = fc.record({
    objects: fc.constantFrom(50, 75, 99),
    requestsPerSecond: fc.constantFrom(0, 10, 49),
    stallsPerHour: fc.constantFrom(0, 9),
  });
  fc.assert(
    fc.property(fc.array(inside, { minLength: 1, maxLength: 6 }), fc.boolean(), (series, isDedicated) => {
      const fleet = new Fleet(['a']);
      if (isDedicated) Object.assign(fleet.planes.get('a')!, { mode: 'Dedicated', promotedFor: 'objects' });
      for (const measured of series) {
        assert.deepEqual(fleet.during(3_900_000, () => ({ a: measured })).flatMap(actions), []);
      }
    }),
    { numRuns: 50 },
  );
});

test('the budget, the number of migrations and the windows hold for all measurements', () => {
  fc.assert(
    fc.property(rounds, fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 3 }), (all, periods, concurrent) => {
      const own = { ...policy, maxConcurrent: concurrent, maxDedicated: 2 };
      const fleet = new Fleet(names, { policy: own, periods });
      for (const round of all) {
        for (let i = 0; i < 25; i++) {
          fleet.next(byName(round));
          assert.ok(fleet.dedicated <= 2, 'budget');
          assert.ok(fleet.migrating <= concurrent, 'migrations');
        }
      }
      for (const { changes } of fleet.planes.values()) {
        for (const [i, atMs] of changes.entries()) {
          const windowMs = i % 2 === 0 ? 600_000 : 3_600_000;
          assert.ok(atMs - (changes[i - 1] ?? 0) >= windowMs, 'window');
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('the decision does not depend on the order of the control planes', () => {
  fc.assert(
    fc.property(
      fc.tuple(...names.map(() => anything)),
      fc.shuffledSubarray(names, { minLength: 5 }),
      (round, order) => {
        const fleet = new Fleet(names, { policy: { ...policy, maxDedicated: 0 } });
        fleet.during(660_000, () => byName(round));
        const own = { ...policy, maxConcurrent: 2 };
        const candidates = fleet.candidates();
        const shuffled = order.map((name) => candidates.find((one) => one.name === name)!);
        assert.deepEqual(decide(shuffled, own, fleet.nowMs), decide(candidates, own, fleet.nowMs));
      },
    ),
    { numRuns: 100 },
  );
});

test('settings of a class are numbers, with defaults', () => {
  const { toDedicated, toVirtual, ...rest } = policyOf({
    toDedicated: { storedBytes: '1Gi', neighbourP99: '1500ms' },
    toVirtual: { storedBytes: 1000 },
  });
  assert.deepEqual(rest, { isAutomatic: false, maxDedicated: 0, maxConcurrent: 1 });
  assert.equal(toDedicated.limits.storedBytes, 2 ** 30);
  assert.equal(toDedicated.limits.neighbourP99Ms, 1_500);
  assert.equal(toDedicated.windowMs, 600_000);
  assert.deepEqual([toVirtual!.limits.storedBytes, toVirtual!.windowMs], [1_000, 3_600_000]);
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CrashRecord, SampledActivity } from './contract.ts';
import { StallPolicy } from './stall-policy.ts';

const minuteMs = 60_000;
const activity = (tenant: string): SampledActivity => ({
  id: 1,
  tenant,
  user: 'ada',
  verb: 'patch',
  resource: '/apis/x',
  isAccountable: true,
});

function world(options: Partial<ConstructorParameters<typeof StallPolicy>[0]> = {}) {
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const limits = { graceMs: 0, ...options.limits };
  const open = () => new StallPolicy({ clock, ...options, limits });
  return { clock, open, policy: open(), pass: (ms: number) => void (nowMs += ms) };
}

describe('a tenant that stalls the loop', () => {
  test('is quarantined with the third stall above a second, if they took 10 s in total', () => {
    const { policy } = world();
    assert.equal(policy.stalled(activity('x'), 4_000), undefined);
    assert.equal(policy.stalled(activity('x'), 4_000), undefined);
    assert.equal(policy.stalled(activity('y'), 4_000), undefined);
    for (let at = 0; at < 6; at++) assert.equal(policy.stalled(activity('short'), 1_600), undefined);
    const verdict = policy.stalled({ ...activity('x'), resource: '/apis/x?token=secret' }, 4_200);
    assert.equal(verdict?.reason, 'EventLoopStalls');
    assert.equal(
      verdict.message,
      '3 requests blocked the server for more than 1 s each, 12.2 s in total, within 10 minutes; ' +
        'last: patch /apis/x by "ada", 4200 ms',
    );
    assert.equal(verdict.durationMs, 10 * minuteMs);
  });

  test('is quarantined with the tenth stall above 100 ms within ten minutes, not with ten in an hour', () => {
    const { policy, pass } = world({ limits: { stalledMinMs: 1_200 } });
    for (let at = 0; at < 30; at++) {
      assert.equal(policy.stalled(activity('slow'), 120), undefined);
      pass(2 * minuteMs);
    }
    for (let at = 0; at < 9; at++) assert.equal(policy.stalled(activity('x'), 120), undefined);
    assert.equal(policy.stalled(activity('x'), 120)?.tenant, 'x');
  });

  test('is not quarantined for stalls that took less than 30 s of ten minutes in total', () => {
    const { policy } = world();
    for (let at = 0; at < 99; at++) assert.equal(policy.stalled(activity('x'), 300), undefined);
    assert.match(policy.stalled(activity('x'), 300)!.message, /^100 requests blocked .* 100 ms each, 30 s in total/);
  });

  test('is not quarantined for stalls in the first two minutes of the process', () => {
    const { policy, pass } = world({ limits: { longStallsMax: 1, graceMs: 2 * minuteMs } });
    pass(2 * minuteMs - 1);
    assert.equal(policy.stalled(activity('x'), 20_000), undefined);
    pass(1);
    assert.equal(policy.stalled(activity('x'), 20_000)?.tenant, 'x');
  });

  test('is quarantined for twice as long each time, and from the beginning after a quiet day', () => {
    const { policy, pass } = world({ limits: { longStallsMax: 1, longStalledMinMs: 0 } });
    const next = () => policy.stalled(activity('x'), 2_000)!.durationMs / minuteMs;
    const durations = [];
    for (let at = 0; at < 3; at++) {
      durations.push(next());
      pass(24 * 60 * minuteMs);
    }
    assert.deepEqual(durations, [10, 20, 40]);
    pass(2 * 24 * 60 * minuteMs);
    assert.equal(next(), 10);
  });

  test('is quarantined as for the first time after an administrator has ended a quarantine', () => {
    const { policy } = world({ limits: { longStallsMax: 2, longStalledMinMs: 0 } });
    const stall = () => policy.stalled(activity('x'), 2_000);
    stall();
    assert.equal(stall()?.durationMs, 10 * minuteMs);
    stall();
    policy.resumed('x');
    assert.equal(stall(), undefined);
    assert.equal(stall()?.durationMs, 10 * minuteMs);
  });

  test('is never quarantined when the duration is 0', () => {
    const { policy } = world({ limits: { longStallsMax: 1, durationMs: 0 } });
    assert.equal(policy.stalled(activity('x'), 50_000), undefined);
  });
});

describe('a crash during the work of a tenant', () => {
  let directory: string;
  before(() => void (directory = mkdtempSync(join(tmpdir(), 'stall-policy-'))));
  after(() => rmSync(directory, { recursive: true }));

  const crash = ({ clock }: { clock: { now(): number } }, isCertain: boolean): CrashRecord => ({
    activity: activity('x'),
    at: clock.now(),
    isCertain,
    reason: 'why',
  });

  test('that the tenant caused for certain quarantines it at the next start', () => {
    const one = world({ file: join(directory, 'certain') });
    const verdict = one.open().crashed(crash(one, true));
    assert.equal(verdict?.reason, 'ProcessCrash');
    assert.equal(verdict.message, 'the server exited during its work; patch /apis/x by "ada"; why');
  });

  test('that may have other causes quarantines with the third one within an hour, also over restarts', () => {
    const one = world({ file: join(directory, 'uncertain') });
    assert.equal(one.open().crashed(crash(one, false)), undefined);
    one.pass(2 * 60 * minuteMs);
    assert.equal(one.open().crashed(crash(one, false)), undefined);
    one.pass(minuteMs);
    assert.equal(one.open().crashed(crash(one, false)), undefined);
    one.pass(minuteMs);
    assert.equal(one.open().crashed(crash(one, false))?.tenant, 'x');
  });

  test('is counted in memory, with one line in the log, when the file cannot be written', () => {
    const notDirectory = join(directory, 'not-a-directory');
    writeFileSync(notDirectory, '');
    const lines: string[] = [];
    const log = { error: (line: string) => void lines.push(line) };
    const one = world({ file: join(notDirectory, 'strikes.json'), log });
    const policy = one.open();
    assert.equal(policy.crashed(crash(one, false)), undefined);
    assert.deepEqual(lines, ['failed to save the crashes and quarantines of tenants']);
    assert.equal(policy.crashed(crash(one, true))?.tenant, 'x');
  });

  test('is counted when the file holds values that are not valid', () => {
    const file = join(directory, 'not-valid');
    for (const [text, minutes] of [
      ['{"x":{"crashes":5,"quarantines":"3","untilMs":null}}', 10],
      ['{"x":{"crashes":[null,"now",{}],"quarantines":1,"untilMs":1e15},"y":null}', 20],
      ['{"x":null}', 10],
      ['[', 10],
      ['null', 10],
    ] as const) {
      writeFileSync(file, text);
      const one = world({ file });
      assert.equal(one.open().crashed(crash(one, true))?.durationMs, minutes * minuteMs, text);
    }
  });
});

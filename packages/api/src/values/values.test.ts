import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import { formatDuration, parseDuration } from './duration.ts';
import { canonicalQuantity } from './quantity.ts';
import { formatTime, parseTime } from './time.ts';

const quantities: [given: string, canonical: string][] = [
  ['0', '0'],
  ['1', '1'],
  ['100m', '100m'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1.5', '1500m'],
  ['1000', '1k'],
  ['1000000', '1M'],
  ['1024Ki', '1Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Gi', '512Mi'],
  ['512Ki', '512Ki'],
  ['0.1Ki', '102400m'],
  ['1e3', '1e3'],
  ['12e6', '12e6'],
  ['1000e3', '1e6'],
  ['-1500m', '-1500m'],
  ['-2000m', '-2'],
  ['.5', '500m'],
  ['1.', '1.'],
  ['0.0000000001', '1n'],
  ['1.234', '1.234'],
  ['+5', '+5'],
  ['9223372036854775808Ei', '9223372036854775807'],
  ['00', '0'],
  ['Gi', '0'],
  ['-', '0'],
  ['1e99', '1e99'],
  ['100e2', '10e3'],
];
for (const [given, canonical] of quantities) {
  test(`the quantity ${given} is written ${canonical}`, () => assert.equal(canonicalQuantity(given), canonical));
}

for (const given of [
  '',
  'x',
  '1x',
  '1.2.3',
  '1KI',
  '--1',
  '1e',
  '1e+',
  '1ki',
  '1e1000',
  `1${'0'.repeat(300)}`,
  '1 Gi',
  '0x1',
  '１',
]) {
  test(`${JSON.stringify(given.slice(0, 20))} is no quantity`, () => {
    assert.throws(() => canonicalQuantity(given), { code: 'InvalidValue' });
  });
}

test('quantities with absurd exponents cost no time', () => {
  const takenMs = cpuTime();
  for (let i = 0; i < 1000; i++) {
    canonicalQuantity(`1.${i}e99`);
    canonicalQuantity(`1.${i}e-99`);
  }
  assert.ok(takenMs() < 1000);
});

const durations: [text: string, nanoseconds: bigint, written: string][] = [
  ['0', 0n, '0s'],
  ['1h30m0.5s', 5_400_500_000_000n, '1h30m0.5s'],
  ['90s', 90_000_000_000n, '1m30s'],
  ['-1.5ms', -1_500_000n, '-1.5ms'],
  ['2us', 2_000n, '2µs'],
  ['7ns', 7n, '7ns'],
  ['3600s', 3_600_000_000_000n, '1h0m0s'],
  ['.5s', 500_000_000n, '500ms'],
];
for (const [text, nanoseconds, written] of durations) {
  test(`the duration ${text} is written ${written}`, () => {
    assert.equal(parseDuration(text), nanoseconds);
    assert.equal(formatDuration(nanoseconds), written);
  });
}

for (const text of ['', '1', 's', '1x', '1h-1m', '99999999999h', `${'9'.repeat(400)}s`]) {
  test(`${JSON.stringify(text.slice(0, 12))} is no duration`, () => {
    assert.throws(() => parseDuration(text), { code: 'InvalidValue' });
  });
}

test('times are read with offsets and written in UTC', () => {
  const { seconds } = parseTime('2026-02-28T23:30:00-02:00', 'second');
  assert.equal(formatTime(seconds, 'second'), '2026-03-01T01:30:00Z');
});

test('microseconds are kept, nanoseconds are cut', () => {
  const { seconds, nanos } = parseTime('2026-01-02T03:04:05.123456Z', 'micro');
  assert.equal(nanos, 123_456_000);
  assert.equal(formatTime(seconds, 'micro', 123_456_789), '2026-01-02T03:04:05.123456Z');
});

test('years before 100 are not taken for the twentieth century', () => {
  assert.equal(formatTime(parseTime('0050-06-01T00:00:00Z', 'second').seconds, 'second'), '0050-06-01T00:00:00Z');
});

const badTimes: [text: string, precision: 'second' | 'micro', why: RegExp][] = [
  ['x', 'second', /cannot parse "x" as "2006"$/],
  ['2020-01-01', 'second', /cannot parse "" as "T"$/],
  ['2020-13-01T00:00:00Z', 'second', /month out of range$/],
  ['2021-02-29T00:00:00Z', 'second', /day out of range$/],
  ['2020-01-01T24:00:00Z', 'second', /hour out of range$/],
  ['2020-01-01T00:00:00Zx', 'second', /extra text: "x"$/],
  ['2020-01-01T00:00:00Z', 'micro', /cannot parse "Z" as ".000000"$/],
  ['2020-01-01T00:00:00.1234567Z', 'micro', /cannot parse "7Z" as "Z07:00"$/],
];
for (const [text, precision, why] of badTimes) {
  test(`${text} is refused as a ${precision} time with Go's reason`, () => {
    assert.throws(() => parseTime(text, precision), { code: 'InvalidValue', message: why });
  });
}

/** Processor time: the machine may be busy with something else. */

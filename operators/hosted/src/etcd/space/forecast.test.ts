import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { GrowthForecast } from './forecast.ts';
import { mebibyte } from './member-space.ts';

const minuteMs = 60_000;

/** A sample each minute. */
function forecastOf(minutes: number, bytesAt: (minute: number) => number): GrowthForecast {
  const forecast = new GrowthForecast();
  for (let minute = 0; minute <= minutes; minute++) forecast.add(minute * minuteMs, bytesAt(minute));
  return forecast;
}

test('a database that grows steadily is full when the line reaches the quota', () => {
  // One mebibyte a minute: 120 MiB after two hours.
  const seconds = forecastOf(120, (minute) => minute * mebibyte).secondsUntil(180 * mebibyte);
  assert.ok(Math.abs(seconds! - 3_600) < 1, `${seconds} s`);
});

test('the line goes through noise and through the steps of compactions', () => {
  const random = seededRandom(4);
  const bytes = (minute: number): number =>
    (100 + minute + 5 * random.fraction() - 10 * (minute % 10 === 0 ? 1 : 0)) * mebibyte;
  const slope = forecastOf(300, bytes).slope()! / (mebibyte / 60);
  assert.ok(slope > 0.9 && slope < 1.1, `${slope} MiB per minute`);
});

test('there is no prediction without growth, with little growth, or from less than an hour', () => {
  assert.equal(forecastOf(120, () => mebibyte).secondsUntil(2 * mebibyte), undefined);
  assert.equal(forecastOf(120, (minute) => (200 - minute) * mebibyte).secondsUntil(900 * mebibyte), undefined);
  assert.equal(forecastOf(120, (minute) => minute).secondsUntil(900 * mebibyte), undefined);
  assert.equal(forecastOf(59, (minute) => minute * mebibyte).secondsUntil(90 * mebibyte), undefined);
});

test('a database that exceeds the quota is full now', () => {
  assert.equal(forecastOf(90, (minute) => minute * mebibyte).secondsUntil(80 * mebibyte), 0);
});

test('only the last six hours count', () => {
  const bytes = (minute: number): number => (minute < 600 ? minute : 600) * mebibyte;
  assert.ok(forecastOf(700, bytes).slope()! > 0);
  assert.equal(forecastOf(1_000, bytes).slope(), 0);
});

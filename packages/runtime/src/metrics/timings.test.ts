import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram } from '@hangar/core';
import { MetricsRegistry } from './registry.ts';
import { exponentialBounds, TimingFamily } from './timings.ts';

test('the text is the one that a histogram of core makes', () => {
  const bounds = [0.1, 1, 10];
  const timings = new TimingFamily('x_seconds', 'X', bounds);
  const histogram = new Histogram('x_seconds', 'X', bounds);
  const series = timings.series({ controller: 'a"b' });
  for (const seconds of [0, 0.1, 0.10001, 1, 5, 10, 11, 1e9]) {
    series.observe(seconds);
    histogram.observe('{controller="a\\"b"}', seconds);
  }
  assert.equal(timings.text(), histogram.text());
});

test('a series is had once for each set of labels, by whoever asks', () => {
  const registry = new MetricsRegistry();
  const family = (): TimingFamily => registry.register(new TimingFamily('x_seconds', 'X', [1]));
  assert.equal(family().series({ a: '1' }), family().series({ a: '1' }));
  assert.notEqual(family().series({ a: '1' }), family().series({ a: '2' }));
});

test('bounds grow by their factor, without the noise of floating point', () => {
  assert.deepEqual(exponentialBounds(1e-8, 10, 12), [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]);
});

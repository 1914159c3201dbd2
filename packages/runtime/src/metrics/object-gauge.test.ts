import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObjectGauge } from './object-gauge.ts';

const seriesOf = (gauge: ObjectGauge): string[] => gauge.text().split('\n').slice(2);

test('the series of an object replace its earlier ones', () => {
  const gauge = new ObjectGauge('x_blocked', 'X.');
  gauge.replace('team/a', [[{ name: 'a', reason: 'NoQuorum' }, 1]]);
  gauge.replace('team/b', [[{ name: 'b', reason: 'NoSpace' }, 1]]);
  gauge.replace('team/a', [[{ name: 'a', reason: 'Other "one"' }, 2]]);
  assert.deepEqual(seriesOf(gauge), [
    'x_blocked{name="a",reason="Other \\"one\\""} 2',
    'x_blocked{name="b",reason="NoSpace"} 1',
  ]);
});

test('a removed object, and one without series, has no series', () => {
  const gauge = new ObjectGauge('x', 'X.');
  for (const name of ['a', 'b', 'c']) gauge.replace(name, [[{ name }, 1]]);
  gauge.remove('a');
  gauge.replace('b', []);
  assert.deepEqual(seriesOf(gauge), ['x{name="c"} 1']);
});

test('objects beyond the limit have no series until another one is removed', () => {
  const gauge = new ObjectGauge('x', 'X.', 2);
  for (const name of ['a', 'b', 'c']) gauge.replace(name, [[{ name }, 1]]);
  gauge.replace('a', [[{ name: 'a' }, 5]]);
  assert.deepEqual(seriesOf(gauge), ['x{name="a"} 5', 'x{name="b"} 1']);
  gauge.remove('b');
  gauge.replace('c', [[{ name: 'c' }, 1]]);
  assert.deepEqual(seriesOf(gauge), ['x{name="a"} 5', 'x{name="c"} 1']);
});

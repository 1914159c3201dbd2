import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergedExposition } from './exposition.ts';

const family = (name: string, ...series: string[]) =>
  [`# HELP ${name} h`, `# TYPE ${name} counter`, ...series].join('\n');

test('series of one family stand together under one head, and what the server tells anyway is left out', () => {
  const one = [
    family('a_total', 'a_total{x="1"} 1'),
    family('process_cpu_seconds_total', 'process_cpu_seconds_total 1'),
  ];
  const two = [family('b_total', 'b_total 2'), family('a_total', 'a_total{x="2"} 2')];
  assert.equal(
    mergedExposition([`${one.join('\n')}\n`, two.join('\n'), '']),
    [family('a_total', 'a_total{x="1"} 1', 'a_total{x="2"} 2'), family('b_total', 'b_total 2')].join('\n'),
  );
});

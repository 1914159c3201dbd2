import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleProblem } from './cron-schedule.ts';
import { overlap, parseIndexes } from './indexes.ts';
import { isTimeZone } from './time-zone.ts';

test('schedules of five fields and descriptors are understood', () => {
  for (const schedule of [
    '*/5 1-3 * jan mon',
    '0 0 1,15 * 1-5/2',
    '@daily',
    '@every 1h30m',
    '? ? ? ? ?',
    'TZ=UTC 0 0 1 1 0',
  ]) {
    assert.equal(scheduleProblem(schedule), undefined, schedule);
  }
});

test('what is wrong with a schedule is said in the parser’s words', () => {
  const problems: Readonly<Record<string, string>> = {
    '* * * *': 'expected exactly 5 fields, found 4: [* * * *]',
    '60 * * * *': 'end of range (60) above maximum (59): 60',
    '* * 0 * *': 'beginning of range (0) below minimum (1): 0',
    '5-1 * * * *': 'beginning of range (5) beyond end of range (1): 5-1',
    '*/0 * * * *': 'step of range should be a positive number: */0',
    '1-2-3 * * * *': 'too many hyphens: 1-2-3',
    '*/1/2 * * * *': 'too many slashes: */1/2',
    'x * * * *': 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
    '@often': 'unrecognized descriptor: @often',
    '@every 5q': 'failed to parse duration @every 5q: time: unknown unit "q" in duration "5q"',
    'TZ=UTC': 'invalid schedule format: runtime error: slice bounds out of range [:-1]',
  };
  for (const [schedule, problem] of Object.entries(problems)) assert.equal(scheduleProblem(schedule), problem);
});

test('time zones are known by their names with case', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'Etc/GMT+5', 'Asia/Calcutta']) assert.ok(isTimeZone(name), name);
  for (const name of ['utc', 'europe/berlin', '+0100', 'Mars/Phobos']) assert.ok(!isTimeZone(name), name);
});

test('indexes are counted, or it is said why not', () => {
  assert.deepEqual(parseIndexes('', 5), { total: 0 });
  assert.deepEqual(parseIndexes('0,2-4', 5), { total: 4 });
  assert.deepEqual(parseIndexes('2-1', 5), { problem: 'non-increasing order, previous: 2, current: 1' });
  assert.deepEqual(parseIndexes('0-5', 5), { problem: 'too large index: "5"' });
  assert.deepEqual(parseIndexes('a', 5), { problem: 'cannot convert string to integer for index: "a"' });
});

test('sets of indexes overlap at the first index that both have', () => {
  assert.equal(overlap('0,4-6', '1-2,5', 9), 5);
  assert.equal(overlap('0,4-6', '1-3,7', 9), undefined);
  assert.equal(overlap('', '1', 9), undefined);
});

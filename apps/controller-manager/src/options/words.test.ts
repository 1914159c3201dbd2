import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { flagsIn } from './words.ts';

const kinds: Readonly<Record<string, 'value' | 'switch'>> = {
  on: 'switch',
  'a-name': 'value',
  v: 'value',
  help: 'switch',
};
const letters: Readonly<Record<string, string>> = { v: 'v', h: 'help' };
const read = (...words: string[]) =>
  flagsIn(words, { kindOf: (name) => kinds[name], longNameOf: (letter) => letters[letter] }).map(({ name, value }) =>
    value === undefined ? name : `${name}=${value}`,
  );

test('values come behind = or as the next word, and switches have theirs behind = only', () => {
  assert.deepEqual(read('--a-name=x', '--a-name', 'y', '--on', '--on=false'), [
    'a-name=x',
    'a-name=y',
    'on',
    'on=false',
  ]);
  assert.deepEqual(read('--a-name='), ['a-name=']);
  assert.deepEqual(read('--a-name=x=y'), ['a-name=x=y']);
  assert.deepEqual(read('--a-name=two\nlines'), ['a-name=two\nlines']);
  assert.throws(() => read('--on', 'false'), /unexpected argument "false"/);
});

test('what needs a value takes the next word whatever it is, as pflag does', () => {
  assert.deepEqual(read('--a-name', '--on'), ['a-name=--on']);
  assert.deepEqual(read('--a-name', '-1'), ['a-name=-1']);
  assert.throws(() => read('--a-name'), /--a-name requires a value: --a-name=VALUE/);
});

test('underscores in names are dashes', () => {
  assert.deepEqual(read('--a_name=x_y'), ['a-name=x_y']);
});

test('letters may stand together, with the value of the last', () => {
  for (const words of [['-v', '2'], ['-v=2'], ['-v2'], ['--v=2'], ['--v', '2']])
    assert.deepEqual(read(...words), ['v=2']);
  assert.deepEqual(read('-hv2'), ['help', 'v=2']);
  assert.deepEqual(read('-h'), ['help']);
  assert.throws(() => read('-v'), /--v requires a value/);
});

test('a long name with one dash is refused, with how it is written', () => {
  assert.throws(() => read('-a-name=x'), /unknown shorthand flag "-a" in "-a-name"; did you mean --a-name\?$/);
  assert.throws(
    () => read('-x'),
    (error: Error) => error instanceof UsageError && !error.message.includes('did you mean'),
  );
});

test('a word behind a flag that nobody knows is its value: there are no others', () => {
  assert.deepEqual(read('--new', 'x', '--on'), ['new=x', 'on']);
  assert.deepEqual(read('--new', '--on'), ['new', 'on']);
  assert.deepEqual(read('--new', '-1', '--newer', '-'), ['new=-1', 'newer=-']);
  assert.deepEqual(read('--new', ''), ['new=']);
  assert.deepEqual(read('--new'), ['new']);
});

test('everything else is no flag', () => {
  for (const word of ['x', '', '-', '--', '--=x', '---x', '-- x', '--a name', '--é']) {
    assert.throws(() => read(word), UsageError, JSON.stringify(word));
  }
});

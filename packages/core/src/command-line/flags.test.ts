import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFlags, layered, parseFlags } from './flags.ts';
import { UsageError } from './usage-error.ts';

const some = {
  name: { type: 'string', default: 'x' },
  list: { type: 'string', multiple: true },
  on: { type: 'boolean' },
} as const;

test('switches may be taken back, and nothing else is a value of theirs', () => {
  assert.deepEqual(parseFlags(some, ['--on']), { on: true });
  assert.deepEqual(parseFlags(some, ['--on', '--on=false']), { on: false });
  assert.deepEqual(parseFlags(some, ['--on=true', '--list=a', '--list', 'b']), { on: true, list: ['a', 'b'] });
  for (const args of [['--on=1'], ['--on='], ['--off=true'], ['--name'], ['word']]) {
    assert.throws(() => parseFlags(some, args), UsageError, args.join(' '));
  }
});

test('an unknown flag is one line with similar flags, and an argument is refused', () => {
  assert.throws(
    () => parseFlags(some, ['--nmae', 'x']),
    /^Error: unknown flag "--nmae"; did you mean --name\? --help lists/,
  );
  assert.throws(
    () => parseFlags(some, ['--on', 'get']),
    /unexpected argument "get"; a command comes before its flags: hangar get$/,
  );
});

test('defaults are below every layer, and later layers win', () => {
  assert.deepEqual({ ...layered(some) }, { name: 'x' });
  assert.deepEqual({ ...layered(some, { name: 'y', on: true }, { on: false }) }, { name: 'y', on: false });
});

test('what is told of flags leaves out rows that are none', () => {
  assert.deepEqual(describeFlags(some, [{ title: 'T', rows: [['ENV', 'not a flag']] }]), []);
  const rows = [['--list ITEM', 'one more']] as const;
  assert.deepEqual(describeFlags(some, [{ title: 'T', rows }]), [
    { title: 'T', flags: [{ name: 'list', argument: 'ITEM', meaning: 'one more', isRepeatable: true }] },
  ]);
});

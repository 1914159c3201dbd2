import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFlags, layered, parseFlags } from './flags.ts';
import { flagGroups, flags, readOptions, UsageError } from './options.ts';
import { operatorFlagGroups, operatorFlags } from '../operator/options.ts';

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

test('what is no flag is told in a line, with where to look', () => {
  assert.throws(() => parseFlags(some, ['--nmae', 'x']), /^Error: there is no flag "--nmae"; --help lists/);
  assert.throws(() => parseFlags(some, ['--on', 'get']), /"get" is no flag; a command comes first.*hangar get$/);
});

test('defaults are below every layer, and later layers win', () => {
  assert.deepEqual({ ...layered(some) }, { name: 'x' });
  assert.deepEqual({ ...layered(some, { name: 'y', on: true }, { on: false }) }, { name: 'y', on: false });
});

test('documents are given every flag once, with what follows it and whether it may be repeated', () => {
  for (const [groups, table] of [
    [flagGroups, flags],
    [operatorFlagGroups, operatorFlags],
  ] as const) {
    const described = groups.flatMap((group) => group.flags);
    assert.deepEqual(described.map(({ name }) => name).toSorted(), Object.keys(table).toSorted());
    for (const { name, argument, meaning, isRepeatable } of described) {
      const { type, multiple = false } = (table as Record<string, { type: string; multiple?: boolean }>)[name]!;
      assert.equal(argument === undefined, type === 'boolean', name);
      assert.equal(isRepeatable, multiple, name);
      assert.ok(meaning.length > 5, name);
    }
  }
  assert.deepEqual(describeFlags(some, [{ title: 'T', rows: [['ENV', 'not a flag']] }]), []);
});

test('what runs beside the server follows from the store, and can be said', () => {
  const read = (...args: string[]) => (readOptions(args) as { services: object }).services;
  assert.deepEqual(read(), { isBare: false, makesDemo: true, electsLeader: false });
  assert.deepEqual(read('--store=etcd://a'), { isBare: false, makesDemo: false, electsLeader: true });
  assert.deepEqual(read('--store=etcd://a', '--leader-elect=false'), {
    isBare: false,
    makesDemo: false,
    electsLeader: false,
  });
  assert.deepEqual(read('--leader-elect', '--no-demo'), { isBare: false, makesDemo: false, electsLeader: true });
  assert.deepEqual(read('--bare', '--store=etcd://a'), { isBare: true, makesDemo: false, electsLeader: false });
  assert.throws(() => read('--bare', '--leader-elect'), UsageError);
});

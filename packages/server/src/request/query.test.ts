import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@hangar/api';
import { managerOf, writeOptions } from './options.ts';
import type { OptionsKind } from './options.ts';
import type { PatchType } from './media.ts';
import { Query, splitTarget } from './query.ts';

const refusal = (action: () => unknown): { code: number; message: string } => {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return { code: error.status.code!, message: error.message };
  }
  return assert.fail('it was not refused');
};

test('a target is a path and a query, at the first question mark', () => {
  assert.deepEqual(splitTarget('/a'), { path: '/a', query: '' });
  assert.deepEqual(splitTarget('/a?b?c'), { path: '/a', query: 'b?c' });
  assert.deepEqual(splitTarget('?'), { path: '', query: '' });
});

test('flags are what kube-apiserver takes for true', () => {
  const cases: [query: string, expected: boolean | undefined][] = [
    ['', undefined],
    ['other=1', undefined],
    ['watch', true],
    ['watch=', true],
    ['watch=true', true],
    ['watch=1', true],
    ['watch=yes', true],
    ['watch=false', false],
    ['watch=FALSE', false],
    ['watch=0', false],
    ['watch=0&watch=1', false],
  ];
  for (const [query, expected] of cases) assert.equal(new Query(query).flag('watch'), expected, query);
});

test('numbers are whole and of 64 bits', () => {
  const number = (text: string) => new Query(`limit=${text}`).integer('limit');
  assert.deepEqual([number(''), number('0'), number('%2B5'), number('-7')], [undefined, 0, 5, -7]);
  assert.equal(refusal(() => number('1.5')).message, 'strconv.ParseInt: parsing "1.5": invalid syntax');
  assert.equal(refusal(() => number('0x10')).code, 400);
  assert.equal(
    refusal(() => number('9'.repeat(30))).message,
    `strconv.ParseInt: parsing "${'9'.repeat(30)}": value out of range`,
  );
});

test('the first value counts, and escapes that are none are taken as they are', () => {
  const query = new Query('a=1&a=2&b=%zz&c=x%20y+z&__proto__=p&constructor');
  assert.equal(query.text('a'), '1');
  assert.deepEqual(query.all('a'), ['1', '2']);
  assert.equal(query.text('c'), 'x y z');
  assert.equal(query.text('__proto__'), 'p');
  assert.ok(query.has('constructor') && !query.has('toString'));
  assert.equal(new Query('').text('a'), '');
});

test('options that cannot be are refused with the field that is wrong', () => {
  const cases: [query: string, kind: OptionsKind, type: PatchType | undefined, message: RegExp][] = [
    [
      'dryRun=Some',
      'CreateOptions',
      undefined,
      /CreateOptions.* dryRun: Unsupported value: .*Some.*: supported values: "All"/,
    ],
    ['dryRun=All&dryRun=x', 'UpdateOptions', undefined, /UpdateOptions.* dryRun/],
    ['fieldValidation=Loose', 'CreateOptions', undefined, /fieldValidation: Unsupported value: "Loose"/],
    ['', 'PatchOptions', 'apply', /fieldManager: Required value: is required for apply patch/],
    ['force=true', 'PatchOptions', 'merge', /force: Forbidden: may not be specified for non-apply patch/],
    ['force=false', 'PatchOptions', 'json', /force: Forbidden/],
    [
      `fieldManager=${'a'.repeat(129)}`,
      'CreateOptions',
      undefined,
      /fieldManager: Too long: may not be more than 128 bytes/,
    ],
    ['fieldManager=a%0Ab', 'CreateOptions', undefined, /invalid character U\+000A \(at position 1\)/],
    ['fieldManager=%E2%80%A8', 'CreateOptions', undefined, /invalid character U\+2028/],
  ];
  for (const [query, kind, type, message] of cases) {
    const refused = refusal(() => writeOptions(new Query(query), kind, type));
    assert.equal(refused.code, 422, query);
    assert.match(refused.message, message, query);
  }
});

test('options that can be are taken', () => {
  const read = (query: string, type?: PatchType) => writeOptions(new Query(query), 'PatchOptions', type);
  assert.deepEqual(read(''), { isDryRun: false, fieldManager: '', fieldValidation: 'Warn', force: false });
  assert.deepEqual(read('dryRun=All&fieldManager=me&fieldValidation=Strict&force=1', 'apply'), {
    isDryRun: true,
    fieldManager: 'me',
    fieldValidation: 'Strict',
    force: true,
  });
});

test('a write without a manager is owned by the program that made it', () => {
  const none = writeOptions(new Query(''), 'CreateOptions');
  assert.equal(managerOf(none, 'kubectl/v1.36.0 (linux/amd64)'), 'kubectl');
  assert.equal(managerOf(none, undefined), '');
  assert.equal(managerOf(none, `\u0000\u2028${'é'.repeat(100)}/1`), 'é'.repeat(64));
  assert.equal(managerOf(writeOptions(new Query('fieldManager=me'), 'CreateOptions'), 'kubectl/1'), 'me');
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readOptions } from '../options/options.ts';
import type { PlatformOptions } from '../options/options.ts';
import { greeting } from './greeting.ts';

const program = 'npx hangar';
const url = 'https://127.0.0.1:6443';
const read = (...args: string[]) => readOptions(args) as PlatformOptions;

test('the first line is for programs, and there is one of it', () => {
  for (const args of [[], ['--bare'], ['--store=memory']]) {
    const lines = greeting({ url, program, options: read(...args) }).split('\n');
    assert.equal(lines[0], `ready ${url}`);
    assert.equal(lines.filter((line) => line.startsWith('ready')).length, 1);
    assert.equal(lines.at(-1), 'Press Ctrl-C to stop it.');
  }
});

test('it names what there is, and what to paste next', () => {
  const options = read();
  const text = greeting({ url, program, options, demoFile: join(options.dataDirectory, 'demo.kubeconfig') });
  for (const part of [
    '.data/admin.kubeconfig',
    'kubectl --kubeconfig .data/demo.kubeconfig ',
    'npx hangar create NAME\n',
  ]) {
    assert.ok(text.includes(part), text);
  }
  const bare = greeting({ url, program, options: read('--bare') });
  assert.ok(bare.includes('kubectl --kubeconfig .data/admin.kubeconfig ') && !bare.includes('npx hangar'), bare);
});

test('paths outside are whole, and what a shell would take apart is quoted', () => {
  const text = greeting({ url, program, options: read("--data-dir=/tmp/it's here") });
  assert.ok(text.includes(`npx hangar create NAME --data-dir '/tmp/it'\\''s here'\n`), text);
  assert.ok(text.includes(`kubectl --kubeconfig '/tmp/it'\\''s here/admin.kubeconfig' `), text);
  const apart = greeting({ url, program, options: read('--kubeconfig=/elsewhere/config') });
  assert.ok(apart.includes('npx hangar create NAME --kubeconfig /elsewhere/config'), apart);
});

test('commands begin with the words that start the program', () => {
  const text = greeting({ url, program: 'node /srv/hangar/bin/hangar.js', options: read() });
  assert.ok(text.includes('\n  node /srv/hangar/bin/hangar.js create NAME\n'), text);
});

test('it names the command for hosted control planes only if they are served', () => {
  const options = read('--data-dir=/elsewhere');
  const text = greeting({ url, program, options, hasHosted: true });
  assert.ok(text.includes('\n  npx hangar hosted list --data-dir /elsewhere\n'), text);
  assert.doesNotMatch(greeting({ url, program, options }), /hosted/);
});

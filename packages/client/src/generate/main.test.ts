import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installCrd, startTestCluster } from '@hangar/testkit';
import type { Client } from '../client.ts';
import type { CustomResourceDefinition } from '../kinds/apiextensions-v1.ts';
import { generate } from './main.ts';
import { definition, schemaOf } from './testing/definitions.ts';

const widgets = definition(schemaOf({ type: 'object' }));
const gadgets = definition(schemaOf({ type: 'object' }), { kind: 'Gadget', plural: 'gadgets' });

const folder = await mkdtemp(join(tmpdir(), 'hangar-types-'));
after(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

interface Run {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function run(args: readonly string[], world: { input?: string; client?: Client } = {}): Promise<Run> {
  const written = { out: '', error: '' };
  const code = await generate(args, {
    out: (text) => void (written.out += text),
    error: (text) => void (written.error += text),
    standardInput: async () => world.input ?? assert.fail('nobody should read'),
    connect: async () => world.client ?? assert.fail('nobody should connect'),
  });
  return { code, ...written };
}

const kindsIn = (text: string): string[] => Array.from(text.matchAll(/^export const (\w+)/gm), ([, name]) => name!);

test('files, several documents in one, lists and other kinds between them', async () => {
  const yaml = `# a comment\n---\n${JSON.stringify(widgets)}\n---\napiVersion: v1\nkind: ConfigMap\n---\n`;
  const list = { apiVersion: 'v1', kind: 'List', items: [gadgets, { kind: 'Pod' }] };
  const { code, out } = await run([await file('a.yaml', yaml), await file('b.json', JSON.stringify(list))]);
  assert.deepEqual([code, kindsIn(out)], [0, ['Widget', 'Gadget']]);
});

test('standard input, and a file for the output', async () => {
  const output = join(folder, 'widget.ts');
  const { code, out } = await run(['-', '-o', output, '--import', './client.ts'], { input: JSON.stringify(widgets) });
  assert.deepEqual([code, out], [0, '']);
  const text = await readFile(output, 'utf8');
  assert.deepEqual(kindsIn(text), ['Widget']);
  assert.match(text, /from '\.\/client\.ts'/);
});

test('from a cluster: those that are named, or all', async () => {
  await using cluster = await startTestCluster();
  for (const one of [widgets, gadgets]) {
    await installCrd(cluster.client, one as unknown as CustomResourceDefinition);
  }
  const named = await run(['--context', 'x', 'widgets.example.com'], { client: cluster.client });
  assert.deepEqual([named.code, kindsIn(named.out)], [0, ['Widget']]);
  const all = await run(['--from-cluster'], {
    client: cluster.clientOf({ name: 'other', groups: ['system:masters'] }),
  });
  assert.deepEqual([all.code, kindsIn(all.out).sort()], [0, ['Gadget', 'Widget']]);
  const client = cluster.clientOf({ name: 'third', groups: ['system:masters'] });
  const none = await run(['--from-cluster', 'nothing.example.com'], { client });
  assert.equal(none.code, 1);
  assert.match(none.error, /hangar-types: .*"nothing.example.com" not found/);
});

test('help says how, and a mistake says what', async () => {
  const { code, out, error } = await run(['--help']);
  assert.deepEqual([code, error], [0, '']);
  for (const word of ['usage: hangar-types', '--from-cluster', '--context', '--kubeconfig', '--output', '--import']) {
    assert.ok(out.includes(word), word);
  }
  assert.ok(out.split('\n').every((line) => line.length <= 100));
  const cases: [args: string[], code: number, message: RegExp][] = [
    [[], 2, /no CustomResourceDefinition given/],
    [['--nonsense'], 2, /nonsense/],
    [[join(folder, 'not-there.yaml')], 1, /not-there\.yaml/],
    [[await file('empty.yaml', '')], 1, /contains no CustomResourceDefinition/],
    [[await file('other.yaml', 'kind: Pod')], 1, /contains no CustomResourceDefinition/],
    [[await file('broken.yaml', 'a: [')], 1, /broken\.yaml: /],
    [
      [await file('beta.yaml', JSON.stringify({ ...widgets, apiVersion: 'apiextensions.k8s.io/v1beta1' }))],
      1,
      /is not a CustomResourceDefinition of/,
    ],
  ];
  for (const [args, expected, message] of cases) {
    const wrong = await run(args);
    assert.deepEqual([wrong.code, wrong.out], [expected, ''], args.join());
    assert.match(wrong.error, message);
  }
});

test('the command itself', async () => {
  const command = fileURLToPath(new URL('../../bin/hangar-types.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    command,
    await file('c.yaml', JSON.stringify(widgets)),
  ]);
  assert.deepEqual(kindsIn(stdout), ['Widget']);
});

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeProtobuf, encodeProtobuf, normalise, schemaOf } from '../../packages/api/src/index.ts';
import { generateTable } from './table.ts';
import { sources } from './modules.ts';

/**
 * Kubernetes publishes one object of every kind with every field set, as JSON and as protobuf: what the server wrote.
 * They come with the Go module and are not kept here.
 */
const from = await sources();
const folder = join(from.api, 'testdata/HEAD');
const fixtures = (await readdir(folder)).filter((file) => file.endsWith('.pb')).map((file) => file.slice(0, -3));

let compared = 0;
for (const name of fixtures.sort()) {
  const bytes = await readFile(join(folder, `${name}.pb`));
  const json = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as Record<string, unknown>;
  const schema = schemaOf(String(json['apiVersion']), String(json['kind']));
  if (!schema) continue;
  compared++;
  test(`${name}: protobuf and JSON are the same object, byte for byte`, () => {
    assert.deepEqual(decodeProtobuf(bytes), json);
    assert.equal(encodeProtobuf(json).toString('hex'), bytes.toString('hex'));
    assert.deepEqual(normalise(schema, json), json);
  });
}

test('nearly every kind that is still served has a fixture', () => {
  assert.ok(compared >= 125, `${compared} of ${fixtures.length} fixtures are of a kind in the table`);
});

test('the committed table is what the sources say', async () => {
  const committed = await readFile(new URL('../../packages/api/src/builtin/table.json', import.meta.url), 'utf8');
  assert.equal(await generateTable(from), committed);
});

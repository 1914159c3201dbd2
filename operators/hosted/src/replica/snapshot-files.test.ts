import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ReplicaFrame, Revision } from '@hangar/store';
import { SnapshotFiles } from './snapshot-files.ts';

const { signal } = new AbortController();
const cidr = JSON.stringify({ kind: 'ServiceCIDR', spec: { cidrs: ['10.0.0.0/24'] } });
const complete = { 'pods/a': 'p', 'ranges/servicenodeports': '{}\n', 'servicecidrs/kubernetes': cidr };

async function* frames(values: Readonly<Record<string, string>>): AsyncGenerator<ReplicaFrame, void, void> {
  const revision = 7 as Revision;
  for (const [key, text] of Object.entries(values)) {
    const entry = { key, value: Buffer.from(text), createRevision: revision, modRevision: revision, version: 1 };
    yield { type: 'entry', entry };
  }
  yield { type: 'snapshot', revision };
}

async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-snapshot-files-'));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

test('a snapshot has the revision and the networks of the tenant, and is removed when it was dropped', async () => {
  await using place = await temporaryFolder();
  const files = new SnapshotFiles(place.folder);
  const { file, serviceCidrs } = await files.write('u1', () => frames(complete), signal);
  assert.deepEqual([file.facts.revision, file.facts.entries, serviceCidrs], [7, 3, ['10.0.0.0/24']]);
  assert.equal(files.get('u1')?.file, file);
  await files.drop('u1');
  assert.deepEqual([files.get('u1'), await readdir(join(place.folder, 'replicas'))], [undefined, []]);
});

test('files of an earlier process are removed', async () => {
  await using place = await temporaryFolder();
  await new SnapshotFiles(place.folder).write('u1', () => frames(complete), signal);
  const files = new SnapshotFiles(place.folder);
  assert.equal(files.get('u1'), undefined);
  await files.write('u2', () => frames(complete), signal);
  assert.equal((await readdir(join(place.folder, 'replicas'))).length, 1);
});

test('a tenant that a kube-apiserver could not start on is refused', async () => {
  await using place = await temporaryFolder();
  const files = new SnapshotFiles(place.folder);
  const table: [Readonly<Record<string, string>>, RegExp][] = [
    [{ ...complete, 'ranges/servicenodeports': '{}' }, /node ports/],
    [{ 'pods/a': 'p', 'servicecidrs/kubernetes': cidr }, /node ports/],
    [{ 'pods/a': 'p', 'ranges/servicenodeports': '{}\n' }, /ServiceCIDR/],
  ];
  for (const [values, message] of table) {
    await assert.rejects(
      files.write('u1', () => frames(values), signal),
      { code: 'Refused', message },
    );
  }
  assert.deepEqual(await readdir(join(place.folder, 'replicas')), []);
});

test('the number of files is limited', async () => {
  await using place = await temporaryFolder();
  const files = new SnapshotFiles(place.folder);
  for (const uid of ['a', 'b', 'c', 'd']) await files.write(uid, () => frames(complete), signal);
  await assert.rejects(
    files.write('e', () => frames(complete), signal),
    { code: 'NotReady' },
  );
  await files.write('a', () => frames(complete), signal);
  await files.drop('b');
  await files.write('e', () => frames(complete), signal);
});

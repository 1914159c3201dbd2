/** Lists all objects of a control plane, by its discovery. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access, Data } from './access.ts';

/** By the path of the list, then by namespace and name. */
export type Everything = ReadonlyMap<string, ReadonlyMap<string, Data>>;

interface Served {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Not stored, but computed by the server. */
const notStored = new Set(['/api/v1/componentstatuses']);

export async function listedPaths(access: Access): Promise<string[]> {
  const { groups } = await access.get('/apis');
  const places: string[] = ['/api/v1'];
  for (const { versions } of groups) for (const { groupVersion } of versions) places.push(`/apis/${groupVersion}`);
  const paths: string[] = [];
  for (const place of places) {
    const { resources } = (await access.get(place)) as { resources: readonly Served[] };
    for (const { name, verbs } of resources) if (verbs.includes('list')) paths.push(`${place}/${name}`);
  }
  return paths.filter((path) => !notStored.has(path)).sort();
}

/** The real server starts serving a custom resource at the first request. */
async function listed(access: Access, path: string): Promise<Data> {
  for (;;) {
    const got = await access.ask('GET', path);
    if (got.status === 200) return got.data;
    assert.equal(got.status, 429, `${path}: ${got.bytes.toString()}`);
    await sleep(200);
  }
}

export async function everything(access: Access, paths: readonly string[]): Promise<Everything> {
  const all = new Map<string, Map<string, Data>>();
  for (const path of paths) {
    const { items } = await listed(access, path);
    const named = (items ?? []).map((item: Data) => [`${item.metadata.namespace ?? ''}/${item.metadata.name}`, item]);
    all.set(path, new Map(named));
  }
  return all;
}

/** Plain manifests and the copies in charts on the disk. */

import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileProblems, writeFiles } from '../generated-files.ts';
import { chartFiles } from './chart-files.ts';
import { renderManifests } from './render.ts';
import { root } from './root.ts';

const part = 'manifests';
const generated = ['deploy/manifests/**/*.yaml', 'deploy/charts/*/crds/*.yaml', 'deploy/charts/*/files/*.yaml'];

/** How many there are. */
export async function writeManifests(): Promise<number> {
  // Charts first: what is rendered is made of them.
  const copies = await chartFiles();
  await writeFiles(copies);
  const rendered = await renderManifests();
  await writeFiles(rendered);
  const all = new Set([...copies.keys(), ...rendered.keys()]);
  for (const stale of staleFiles(all)) await rm(new URL(stale, root));
  return all.size;
}

/** What differs from what would be written, in words. */
export async function manifestsProblems(): Promise<string[]> {
  const files = new Map([...(await chartFiles()), ...(await renderManifests())]);
  const stale = staleFiles(new Set(files.keys())).map((name) => `${name} is no longer generated`);
  return [...stale, ...(await fileProblems(files, part))];
}

/** Of those alone that need nothing but the repository. */
export const chartProblems = async (): Promise<string[]> => fileProblems(await chartFiles(), part);

const staleFiles = (files: ReadonlySet<string>): string[] =>
  globSync(generated, { cwd: root }).filter((name) => !files.has(name));

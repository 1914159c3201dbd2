/** Plain manifests and the copies in charts on disk. */

import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileProblems, writeFiles } from '../generated-files.ts';
import { chartFiles } from './chart-files.ts';
import { renderManifests } from './render.ts';
import { root } from './root.ts';

const part = 'manifests';
const generated = ['deploy/manifests/**/*.yaml', 'deploy/charts/*/crds/*.yaml', 'deploy/charts/*/files/*.yaml'];

/** Resolves with the number of files. */
export async function writeManifests(): Promise<number> {
  // Charts first: the manifests are rendered from them.
  const copies = await chartFiles();
  await writeFiles(copies);
  const rendered = await renderManifests();
  await writeFiles(rendered);
  const all = new Set([...copies.keys(), ...rendered.keys()]);
  for (const stale of staleFiles(all)) await rm(new URL(stale, root));
  return all.size;
}

/** Describes the differences between the committed and the generated files. */
export async function manifestsProblems(): Promise<string[]> {
  const files = new Map([...(await chartFiles()), ...(await renderManifests())]);
  const stale = staleFiles(new Set(files.keys())).map((name) => `${name} is no longer generated`);
  return [...stale, ...(await fileProblems(files, part))];
}

/** The same for files that require only the repository. */
export const chartProblems = async (): Promise<string[]> => fileProblems(await chartFiles(), part);

const staleFiles = (files: ReadonlySet<string>): string[] =>
  globSync(generated, { cwd: root }).filter((name) => !files.has(name));

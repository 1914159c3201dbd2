/**
 * `npm run generate`: writes the table of the built-in kinds from the pinned Kubernetes release, and then all files that derive from the
 * repository alone. `npm run generate -- PART`: only that part; see `parts`. `npm run generate -- [PART] --check`: reports whether the
 * committed files are up to date.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Table } from '../../packages/api/src/builtin/table.ts';
import { sources } from './modules.ts';
import { generateTable } from './table.ts';

interface Part {
  /** Resolves with the number of written files. */
  write(): Promise<number>;
  /** Describes the differences between the committed and the generated files. */
  problems(): Promise<string[]>;
}

const file = new URL('../../packages/api/src/builtin/table.json', import.meta.url);
const committed = await readFile(file, 'utf8').catch(() => '');

/** In the order of their dependencies. Loaded on demand: some import files that others write. */
const parts: Readonly<Record<string, () => Promise<Part>>> = {
  /** The types that clients have of the built-in kinds, from the committed table. */
  async kinds() {
    const { kindsProblems, writeKinds } = await import('./kinds/files.ts');
    const table = JSON.parse(await readFile(file, 'utf8')) as Table;
    return { write: () => writeKinds(table), problems: () => kindsProblems(table) };
  },
  /** The CustomResourceDefinitions of our own kinds, from their TypeScript types. */
  async definitions() {
    const { definitionsProblems, writeDefinitions } = await import('./definitions/files.ts');
    return { write: writeDefinitions, problems: definitionsProblems };
  },
  /** docs/reference, from definitions, commands and flags. */
  async reference() {
    const { referenceProblems, writeReference } = await import('./reference/files.ts');
    return { write: writeReference, problems: referenceProblems };
  },
  /** docs/architecture.svg. */
  async picture() {
    const { pictureProblems, writePicture } = await import('./architecture-picture.ts');
    return { write: writePicture, problems: pictureProblems };
  },
  /** docs/guides/crds-or-aggregated-api.svg. */
  async decision() {
    const { decisionPictureProblems, writeDecisionPicture } = await import('./decision-picture.ts');
    return { write: writeDecisionPicture, problems: decisionPictureProblems };
  },
  /** deploy/monitoring, from the alerts of the operator of hosted control planes. */
  async alerts() {
    const { alertsProblems, writeAlerts } = await import('./alerts.ts');
    return { write: writeAlerts, problems: alertsProblems };
  },
  /** deploy/manifests, rendered from the charts by Helm, and the charts' copies of other files. */
  async manifests() {
    const { manifestsProblems, writeManifests } = await import('./manifests/files.ts');
    return { write: writeManifests, problems: manifestsProblems };
  },
};

const words = process.argv.slice(2);
const isCheck = words.includes('--check');
const asked = words.filter((word) => word !== '--check');
if (asked.some((word) => !Object.hasOwn(parts, word))) {
  console.error(`usage: npm run generate [-- [${Object.keys(parts).join(' | ')}] [--check]]`);
  process.exit(2);
}

const problems: string[] = [];
if (asked.length === 0) {
  const text = await generateTable(await sources());
  if (!isCheck) {
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, text);
    console.log(`table: ${(text.length / 1024).toFixed(0)} KiB`);
  } else if (text !== committed) {
    problems.push('the table is not what npm run generate writes: run it');
  }
}
for (const name of asked.length === 0 ? Object.keys(parts) : asked) {
  const part = await parts[name]!();
  if (isCheck) problems.push(...(await part.problems()));
  else console.log(`${name}: ${await part.write()} files`);
}
if (isCheck) console.log(problems.length === 0 ? 'everything is up to date' : problems.join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;

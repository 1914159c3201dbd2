/** Generated and committed files: writes them, or compares them with the generated text. */

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/** Path below the repository → text. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** Resolves with the number of files. */
export async function writeFiles(files: GeneratedFiles): Promise<number> {
  for (const [name, text] of files) {
    const file = new URL(name, root);
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, text);
  }
  return files.size;
}

/** Describes the differences. `part` is the argument that generates them: `npm run generate -- part`. */
export async function fileProblems(files: GeneratedFiles, part: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, text] of files) {
    const committed = await readFile(new URL(name, root), 'utf8').catch(() => undefined);
    if (committed !== text) problems.push(`${name} is not what npm run generate -- ${part} writes: run it`);
  }
  return problems;
}

/** Formats the text as `npm run format` does. */
export function formatted(name: string, input: string): string {
  const program = fileURLToPath(new URL('node_modules/.bin/oxfmt', root));
  return execFileSync(program, [`--stdin-filepath=${name}`], { input, cwd: fileURLToPath(root), encoding: 'utf8' });
}

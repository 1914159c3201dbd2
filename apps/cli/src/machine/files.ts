/** Configuration files as data, so that they can be printed and tested before they are written. */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Content by absolute path. */
export type Files = Readonly<Record<string, string>>;

/** Only root can read the files: some contain credentials. */
export async function writeFiles(files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
  }
}

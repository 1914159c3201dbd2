/** This installation of hangar as the image of pods: restores run it with the volumes of etcd members. */

import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programsByName } from '@hangar/process-runtime';
import type { ImageSource } from '@hangar/process-runtime';

export const ownImage = 'localhost/hangar:this-installation';

/** Writes a script that starts this installation with this Node, because pods have no PATH. */
export async function ownProgram(folder: string, script = process.argv[1] ?? ''): Promise<ImageSource> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'hangar');
  const command = [process.execPath, await realpath(script)].map(quoted).join(' ');
  await writeFile(path, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  return programsByName({ [ownImage]: path, hangar: path });
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

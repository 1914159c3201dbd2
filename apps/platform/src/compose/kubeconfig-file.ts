/**
 * Kubeconfig files that Hangar writes at every start. Users add entries to them with kubectl: those stay, with the current context and the
 * preferences, and only the entries of Hangar are replaced.
 */

import { readFile } from 'node:fs/promises';
import { dumpYaml, parseYaml } from '@hangar/api/yaml';
import { insistOnKubeconfig, mergedEntries } from '@hangar/client/kubeconfig-entries';
import { UsageError } from '@hangar/core/command-line';
import { writeSecret } from './credentials.ts';

/** Rejects with a UsageError when the file exists and is not a kubeconfig: it was named by mistake. */
export async function writeKubeconfigFile(path: string, text: string): Promise<void> {
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const after = before.trim() === '' ? text : merged(path, before, text);
  if (after !== before) await writeSecret(path, after);
}

function merged(path: string, before: string, text: string): string {
  try {
    const known = insistOnKubeconfig(parseYaml(before).value);
    return dumpYaml(mergedEntries(known, insistOnKubeconfig(parseYaml(text).value)));
  } catch (error) {
    // A message of the parser may quote the file, which has secrets.
    throw new UsageError(`${path} is not a kubeconfig; move it, or set --kubeconfig to another file`, {
      cause: error,
    });
  }
}

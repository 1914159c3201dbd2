/** The kubeconfig that kubectl uses: the first file of `KUBECONFIG`, else `~/.kube/config`. */

import { readFile, realpath } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { JsonObject } from '@hangar/api/json';
import { dumpYaml, parseYaml, parseYamlDocuments } from '@hangar/api/yaml';
import { asError, hasCode, sleep } from '@hangar/core';
import { CliError, failed } from '../errors.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { mergedKubeconfig } from './merge.ts';
import type { MergeOptions } from './merge.ts';
import { whileLocked, writeSecretFile } from './secret-file.ts';

type Place = Pick<Session, 'env' | 'homeFolder' | 'folder' | 'clock' | 'signal'>;

export function userKubeconfig({ env, homeFolder, folder }: Pick<Place, 'env' | 'homeFolder' | 'folder'>): string {
  const first = (env['KUBECONFIG'] ?? '').split(delimiter).find((path) => path !== '');
  return first === undefined ? join(homeFolder, '.kube', 'config') : resolve(folder, first);
}

export interface Merged {
  readonly path: string;
  /** There were some, and YAML that is written anew has none. */
  readonly hasLostComments: boolean;
}

const lockAttempts = 20;
const lockPauseMs = 100;

/** Nothing is written when nothing changes. Rejects with `Failed`; then the file is as it was. */
export async function mergeIntoUserKubeconfig(place: Place, options: MergeOptions): Promise<Merged> {
  const path = await realpath(userKubeconfig(place)).catch(() => userKubeconfig(place));
  const pause = (): Promise<void> => sleep(place.clock, lockPauseMs, place.signal);
  return whileLocked(path, { attempts: lockAttempts, pause }, async () => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return '';
      throw failed(`${quoted(path)} cannot be read: ${asError(error).message}`, { cause: error });
    });
    const before = parsed(text, path);
    const after = explained(path, () => mergedKubeconfig(before, options));
    const written = dumpYaml(after);
    if (before !== undefined && dumpYaml(before as JsonObject) === written) return { path, hasLostComments: false };
    await writeSecretFile(path, written);
    return { path, hasLostComments: /^\s*#/m.test(text) };
  });
}

/** Throws for what would not be the same after it was written anew. */
function parsed(text: string, path: string): unknown {
  return explained(path, () => {
    if (text.trim() === '') return undefined;
    if (!text.startsWith('{') && parseYamlDocuments(text).length > 1) throw failed('it has more than one document');
    const { value, problems } = parseYaml(text, { findRepeated: true });
    if (problems.length > 0) throw failed('it has a key twice');
    return value;
  });
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // A parser's words may quote the file, which has secrets.
    const why = error instanceof CliError ? error.message : 'it is no YAML';
    throw failed(`${quoted(path)} is left as it is: ${why}`, { next: 'put it right, and try again', cause: error });
  }
}

/** The kubeconfig that kubectl uses: the first file of `KUBECONFIG`, else `~/.kube/config`. */

import { readFile, realpath } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { JsonObject } from '@hangar/api/json';
import { dumpYaml, parseYaml, parseYamlDocuments } from '@hangar/api/yaml';
import { NotAKubeconfig } from '@hangar/client/kubeconfig-entries';
import { asError, hasCode, sleep } from '@hangar/core';
import { CliError, failed } from '../errors.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { whileLocked, writeSecretFile } from './secret-file.ts';

type Place = Pick<Session, 'env' | 'homeFolder' | 'folder' | 'clock' | 'signal'>;

export function userKubeconfig({ env, homeFolder, folder }: Pick<Place, 'env' | 'homeFolder' | 'folder'>): string {
  const first = (env['KUBECONFIG'] ?? '').split(delimiter).find((path) => path !== '');
  return first === undefined ? join(homeFolder, '.kube', 'config') : resolve(folder, first);
}

export interface Changed {
  readonly path: string;
  /** The content; undefined: the file stays as it is. */
  readonly after: JsonObject | undefined;
  readonly isChanged: boolean;
  /** The file had comments, which the written YAML does not have. */
  readonly hasLostComments: boolean;
}

const lockAttempts = 20;
const lockPauseMs = 100;

/**
 * Replaces the file by what `change` returns; undefined: it stays. Nothing is written when nothing changes. Rejects with `Failed`; then the
 * file is as it was.
 */
export async function changeUserKubeconfig(
  place: Place,
  change: (before: unknown) => JsonObject | undefined,
): Promise<Changed> {
  const path = await realpath(userKubeconfig(place)).catch(() => userKubeconfig(place));
  const pause = (): Promise<void> => sleep(place.clock, lockPauseMs, place.signal);
  return whileLocked(path, { attempts: lockAttempts, pause }, async () => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return '';
      throw failed(`${quoted(path)} cannot be read: ${asError(error).message}`, { cause: error });
    });
    const before = parsed(text, path);
    const after = explained(path, () => change(before));
    const unchanged = { path, after, isChanged: false, hasLostComments: false };
    if (after === undefined) return unchanged;
    const written = dumpYaml(after);
    if (before !== undefined && dumpYaml(before as JsonObject) === written) return unchanged;
    await writeSecretFile(path, written);
    return { path, after, isChanged: true, hasLostComments: /^\s*#/m.test(text) };
  });
}

/** Throws for content that writing would not preserve. */
function parsed(text: string, path: string): unknown {
  return explained(path, () => {
    if (text.trim() === '') return undefined;
    if (!text.startsWith('{') && parseYamlDocuments(text).length > 1) throw failed('it has more than one document');
    const { value, problems } = parseYaml(text, { findRepeated: true });
    if (problems.length > 0) throw failed('it has a duplicate key');
    return value;
  });
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The message of the parser may quote the file, which contains secrets.
    const isKnown = error instanceof CliError || error instanceof NotAKubeconfig;
    const why = isKnown ? error.message : 'it is not YAML';
    throw failed(`${quoted(path)} was not changed: ${why}`, { next: 'fix the file and try again', cause: error });
  }
}

/** Writes the kubeconfig of a control plane to the requested file. */

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isObject } from '@hangar/api/json';
import { dumpYaml, parseYaml } from '@hangar/api/yaml';
import { failed } from '../../errors.ts';
import type { KubeconfigEntries } from '../../kubeconfig/access.ts';
import { kubeconfigOf } from '../../kubeconfig/access.ts';
import { writeSecretFile } from '../../kubeconfig/secret-file.ts';
import type { Session } from '../../session.ts';
import { plain, quoted } from '../../terminal/plain-text.ts';

export interface Wanted {
  /** Of the control plane. */
  readonly name: string;
  readonly access: KubeconfigEntries;
  /** `-` is standard output. */
  readonly file: string;
}

/** Resolves with the name of the file for messages; undefined: it was standard output. */
export async function writtenKubeconfig(session: Session, { name, access, file }: Wanted): Promise<string | undefined> {
  const text = dumpYaml(kubeconfigOf(name, access));
  if (file === '-') return void session.out.write(text);
  const path = resolve(session.folder, file);
  await insistOnReplaceable(path, file);
  await writeSecretFile(path, text);
  return plain(file);
}

/** A file that is not a kubeconfig was named by mistake. Rejects with `Failed`. */
export async function insistOnReplaceable(path: string, shown: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.size === 0) return;
  if (found.size <= kubeconfigBytesMax && isKubeconfig(await readFile(path, 'utf8').catch(() => ''))) return;
  throw failed(`${quoted(shown)} exists and is not a kubeconfig, so it was not overwritten`, {
    next: 'use another file, or remove this one',
  });
}

const kubeconfigBytesMax = 1024 * 1024;

function isKubeconfig(text: string): boolean {
  try {
    const { value } = parseYaml(text);
    return isObject(value) && value['kind'] === 'Config' && Array.isArray(value['clusters']);
  } catch {
    return false;
  }
}

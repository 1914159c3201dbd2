/** The kubeconfig of a control plane, written to where it was asked for. */

import { resolve } from 'node:path';
import { dumpYaml } from '@hangar/api/yaml';
import type { Access } from '../../kubeconfig/access.ts';
import { kubeconfigOf } from '../../kubeconfig/access.ts';
import { writeSecretFile } from '../../kubeconfig/secret-file.ts';
import type { Session } from '../../session.ts';
import { plain } from '../../terminal/plain-text.ts';

export interface Wanted {
  /** Of the control plane. */
  readonly name: string;
  readonly access: Access;
  /** `-` is standard output. */
  readonly file: string;
}

/** Resolves with how to call the file; undefined: it was standard output. */
export async function writtenKubeconfig(session: Session, { name, access, file }: Wanted): Promise<string | undefined> {
  const text = dumpYaml(kubeconfigOf(name, access));
  if (file === '-') return void session.out.write(text);
  await writeSecretFile(resolve(session.folder, file), text);
  return plain(file);
}

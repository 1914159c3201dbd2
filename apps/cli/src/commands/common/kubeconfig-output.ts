/** The options `-o` and `--merge` of commands that print, write or merge a kubeconfig. */

import type { Call } from '../../command.ts';
import { usage } from '../../errors.ts';
import { kubeconfigOf } from '../../kubeconfig/access.ts';
import type { KubeconfigEntries } from '../../kubeconfig/access.ts';
import { printedValue } from '../../terminal/printed.ts';
import { mergedWith } from './merged.ts';
import { writtenKubeconfig } from './written-kubeconfig.ts';

/** Throws a usage error for options that cannot be used with a kubeconfig. */
export function checkKubeconfigOutput({ given }: Pick<Call, 'given'>): void {
  const output = given.text('output');
  if (output === 'name' || output === 'wide')
    throw usage(`a kubeconfig cannot be printed as ${output}; use json or yaml`);
  if (given.flag('merge') && output !== undefined) throw usage('--merge and -o cannot be used together');
}

export interface KubeconfigOutput {
  /** Of the control plane. */
  readonly name: string;
  readonly access: KubeconfigEntries;
  /** For the message: `control plane`. */
  readonly kind: string;
}

export async function outputKubeconfig(
  { session, given }: Pick<Call, 'session' | 'given'>,
  { name, access, kind }: KubeconfigOutput,
): Promise<void> {
  const output = given.text('output');
  if (given.flag('merge')) return mergedWith(session, { controlPlane: name, access, isCurrent: false });
  if (output === 'json' || output === 'yaml') {
    return session.out.write(printedValue(output, kubeconfigOf(name, access)));
  }
  const where = await writtenKubeconfig(session, { name, access, file: output ?? '-' });
  if (where !== undefined) session.err.write(`kubeconfig of ${kind} ${name} written to ${where}\n`);
}

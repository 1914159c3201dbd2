/** The certificate controllers of cert-manager as a program, and the folder of its definitions. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownProgram } from '../../../tools/own-program.ts';

const folder = import.meta.dirname;
const module = 'github.com/cert-manager/cert-manager';

/** Returns the path of the executable. Flags: --kubeconfig, --cluster-resource-namespace, --enable-certificate-owner-ref. */
export const certManagerController = (log: (line: string) => void): Promise<string> =>
  ownProgram({ name: 'cert-manager-controller', folder }, log);

/** Returns the folder with the CustomResourceDefinitions, in the module that the program is built from. */
export async function certManagerDefinitions(): Promise<string> {
  const args = ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module];
  const { stdout } = await promisify(execFile)('go', args, { cwd: folder, env: { ...process.env, GOWORK: 'off' } });
  return join(stdout.trim(), 'deploy', 'crds');
}

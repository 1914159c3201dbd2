/** The certificate controllers of cert-manager as a program, and the folder of its definitions. */

import { join } from 'node:path';
import { ownProgram } from '../../../tools/own-program.ts';
import { moduleFolder } from '../testing/module-folder.ts';

const folder = import.meta.dirname;
const module = 'github.com/cert-manager/cert-manager';

/** Returns the path of the executable. Flags: --kubeconfig, --cluster-resource-namespace, --enable-certificate-owner-ref. */
export const certManagerController = (log: (line: string) => void): Promise<string> =>
  ownProgram({ name: 'cert-manager-controller', folder }, log);

/** Returns the folder with the CustomResourceDefinitions, in the module that the program is built from. */
export const certManagerDefinitions = async (): Promise<string> =>
  join(await moduleFolder(folder, module), 'deploy', 'crds');

/** The sources of a Go module that a program is built from. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Returns the folder of the module, in the version that the go.mod in `folder` requires. Downloads it if it is not in the module cache. */
export async function moduleFolder(folder: string, module: string): Promise<string> {
  const env = { ...process.env, GOWORK: 'off' };
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: folder, env });
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}

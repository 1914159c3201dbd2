/** Decides whether this server runs hosted control planes, and finds their programs. */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '@hangar/core/command-line';
import type { PlatformOptions } from '../options/options.ts';
import type { ServicesOptions } from '../services/services.ts';

/**
 * Undefined: hosted control planes are off, and nothing of them is loaded. Rejects with a UsageError that names the missing programs and
 * the ways to get them.
 */
export async function hostedOf(
  { dataDirectory, hosted }: Pick<PlatformOptions, 'dataDirectory' | 'hosted'>,
  env: NodeJS.ProcessEnv,
): Promise<ServicesOptions['hosted']> {
  const { isOn, binDirs, frontDoor } = hosted;
  const folder = join(dataDirectory, 'hosted');
  if (!(isOn ?? existsSync(folder))) {
    if (frontDoor) throw new UsageError('--front-door-listen needs --hosted');
    return undefined;
  }
  if (process.platform !== 'linux') throw new UsageError('hosted control planes need Linux: use --hosted=false');
  const [module, { Programs }] = await Promise.all([
    import('../services/hosted/index.ts'),
    import('../services/hosted/programs.ts'),
  ]);
  const programs = new Programs({ folders: binDirs, env, homeFolder: homedir() });
  const missing = programs.missing();
  if (missing.length > 0) throw new UsageError(missingText(missing, { isAsked: isOn === true, folder }));
  return { module, settings: { folder, programs, frontDoor } };
}

const missingText = (
  missing: readonly string[],
  { isAsked, folder }: { readonly isAsked: boolean; readonly folder: string },
): string =>
  [
    `hosted control planes need the programs ${missing.join(', ')}, which are not on this machine`,
    `  install them from the images of Kubernetes: ${process.env['HANGAR_PROGRAM'] ?? 'hangar'} tools get`,
    `  or add their folder to PATH or to --hosted-bin-dirs,`,
    `  or, in a clone of Hangar, build them: npm run tools -- ${missing.join(' ')}`,
    isAsked
      ? '  or start without --hosted'
      : `  or start with --hosted=false: ${folder} has hosted control planes, which stay stopped`,
  ].join('\n');

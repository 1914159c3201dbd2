/** Wraps a command so that it runs in a mount namespace in which the volumes are at the paths of the container. */

import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLine } from '../spec/command.ts';
import type { Mount } from '../volumes/volumes.ts';
import { baseFolder, makeSkeleton, podFolder, systemFolders } from './skeleton.ts';
import type { EnclosureTools } from './tools.ts';

export interface EnclosureOptions {
  readonly tools: EnclosureTools;
  /** Folder of the container; the root folder and the script are written below it. */
  readonly folder: string;
  /** Root file system of the image. Undefined: the machine. */
  readonly imageRoot: string | undefined;
  /** Folder with the file `hosts` of the pod. */
  readonly podFiles: string;
  readonly mounts: readonly Mount[];
  /** In the container. */
  readonly cwd: string;
  readonly command: CommandLine;
}

/** Returns the command that `ContainerProcesses` starts. */
export async function enclosed(options: EnclosureOptions): Promise<CommandLine> {
  const { tools, folder, imageRoot, mounts, cwd, command } = options;
  const root = join(folder, 'root');
  const mountPoints = await Promise.all(
    mounts.map(async ({ source, target }) => ({ target, isFolder: (await stat(source)).isDirectory() })),
  );
  await makeSkeleton({ root, base: imageRoot ?? '/', mountPoints, links: { '/etc/hosts': `/${podFolder}/hosts` } });
  const script = join(folder, 'enter.sh');
  await writeFile(script, scriptOf({ ...options, root }), { mode: 0o600 });
  return {
    executable: tools.unshare,
    argv0: 'unshare',
    arguments: [
      ...tools.unshareFlags,
      tools.bash,
      '--noprofile',
      '--norc',
      '-p',
      script,
      cwd,
      command.argv0,
      // A program of an image is named by its path in the image.
      imageRoot ? (command.inside ?? command.executable) : command.executable,
      ...command.arguments,
    ],
  };
}

/** Mount targets in order: a mount below another comes later. */
const byDepth = (mounts: readonly Mount[]): Mount[] => mounts.toSorted((a, b) => a.target.length - b.target.length);

function scriptOf(options: EnclosureOptions & { readonly root: string }): string {
  const { tools, root, imageRoot, podFiles, mounts } = options;
  const mount = quoted(tools.mount);
  const at = (path: string): string => quoted(join(root, path));
  return [
    '# Arguments: working directory, argv[0], program, arguments. Written by the process runtime of Hangar.',
    'set -e',
    `${mount} --rbind ${quoted(imageRoot ?? '/')} ${at(baseFolder)}`,
    ...systemFolders.map((name) => `${mount} --rbind /${name} ${at(name)}`),
    `${mount} --bind ${quoted(podFiles)} ${at(podFolder)}`,
    ...byDepth(mounts).flatMap(({ source, target, readOnly }) => [
      `${mount} --rbind ${quoted(source)} ${at(target)}`,
      // In a user namespace the system may refuse to change the flags of a mount.
      ...(readOnly ? [`${mount} -o remount,bind,ro ${at(target)} 2>/dev/null || :`] : []),
    ]),
    'cwd=$1 argv0=$2',
    'shift 2',
    ...(imageRoot
      ? [`exec ${quoted(tools.unshare)} --root=${quoted(root)} --wd="$cwd" -- "$@"`]
      : [
          `exec ${quoted(tools.unshare)} --root=${quoted(root)} -- ${quoted(tools.bash)} --noprofile --norc -p -c ` +
            `'cd -- "$1" && { argv0=$2; shift 2; unset -v OLDPWD SHLVL _; exec -a "$argv0" -- "$@"; }' bash "$cwd" "$argv0" "$@"`,
        ]),
    '',
  ].join('\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns a command that runs in the namespaces of a running container. */
export const enteringCommand = (tools: EnclosureTools, pid: number, command: readonly string[]): string[] => [
  tools.nsenter,
  `--target=${pid}`,
  ...tools.enterFlags,
  '--root',
  '--wd',
  '--',
  ...command,
];

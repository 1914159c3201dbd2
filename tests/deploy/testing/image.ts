/**
 * Builds an image without a container runtime: runs the steps of a Containerfile, each in a mount namespace in which the folders of the
 * image cover those of this machine, which stands in for the base. Paths are those of the image, so that results that depend on them
 * (compiled code, links) are the same.
 *
 * Needs root, as building an image does, and `unshare`, `mount` and `setpriv` of util-linux.
 */

import { existsSync, globSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../../../tools/run.ts';
import type { RunResult } from '../../../tools/run.ts';
import { readStages } from './containerfile.ts';
import type { Instruction, Stage } from './containerfile.ts';
import { root } from './files.ts';
import { ignoreOf } from './ignored.ts';

/** Folders of the image that are not in the base. The last one hides the content of this machine's folder. */
const ownFolders = ['/opt', '/usr/local/bin', '/var/lib', '/tmp'] as const;

const stepTimeoutMs = 120_000;

export interface Built {
  /** Parent of its own folders. */
  readonly place: string;
  readonly user: string;
}

export interface BuiltImage extends Built {
  /** Returns the location of a folder of the image on this machine. */
  placeOf(path: string): string;
  readonly instructions: readonly Instruction[];
  /**
   * Returns the command that starts a program in it, as the user of the image, on a file system that is read-only except for `writable`.
   */
  command(args: readonly string[], writable?: string): { readonly path: string; readonly args: readonly string[] };
}

export interface BuildOptions {
  /** For build results; owned by the caller. */
  readonly folder: string;
  /** Reports whether a step is skipped because it changes the base system. */
  readonly isLeftOut?: (instruction: Instruction) => boolean;
  /** Values of `--build-arg`. */
  readonly args?: Readonly<Record<string, string>>;
  /** Existing images, by name. All others are this machine. */
  readonly bases?: Readonly<Record<string, Built>>;
}

export async function buildImage(file: string, options: BuildOptions): Promise<BuiltImage> {
  const { folder, isLeftOut = () => false, args, bases = {} } = options;
  const stages = readStages(await readFile(file, 'utf8'), args);
  const ignoreFile = `${file}.dockerignore`;
  // Without a .dockerignore there is no context.
  const isIgnored = existsSync(ignoreFile) ? ignoreOf(await readFile(ignoreFile, 'utf8')) : () => true;
  const built = new Map(Object.entries(bases));
  let last: Built | undefined;
  for (const [at, stage] of stages.entries()) {
    last = await buildStage(stage, { place: join(folder, `stage-${at}`), built, isIgnored, isLeftOut });
    if (stage.name !== undefined) built.set(stage.name, last);
  }
  const { place, user } = last!;
  return {
    place,
    user,
    placeOf: (path) => placeIn(place, path),
    instructions: stages.at(-1)!.instructions,
    command: (args, writable) => inImage(place, user, args, { isReadOnly: true, writable }),
  };
}

interface StageWorld {
  readonly place: string;
  readonly built: ReadonlyMap<string, Built>;
  readonly isIgnored: (path: string) => boolean;
  readonly isLeftOut: (instruction: Instruction) => boolean;
}

async function buildStage(stage: Stage, world: StageWorld): Promise<Built> {
  const { place, built } = world;
  for (const own of ownFolders) await mkdir(placeIn(place, own), { recursive: true });
  // Writable for all users, as in every base.
  await chmod(placeIn(place, '/tmp'), 0o1777);
  const base = built.get(stage.base);
  if (base) await copy(base.place, place);
  let user = base?.user ?? '0:0';
  let folder = '/';
  for (const instruction of stage.instructions) {
    if (world.isLeftOut(instruction)) continue;
    const { name, text, flags, line } = instruction;
    switch (name) {
      case 'WORKDIR':
        folder = text;
        await mkdir(placeIn(place, text), { recursive: true });
        break;
      case 'USER':
        user = text;
        break;
      case 'COPY': {
        const from = flags['from'];
        const paths = text.split(' ');
        const target = new URL(paths.pop()!, `file://${folder}/`).pathname;
        for (const path of paths) {
          const source = from === undefined ? join(root, path) : placeIn(built.get(from)!.place, path);
          const to = target.endsWith('/') ? join(target, path) : target;
          await copy(source, placeIn(place, to), from === undefined ? world.isIgnored : undefined);
        }
        break;
      }
      case 'RUN': {
        const { path, args } = inImage(place, user, ['sh', '-ec', `cd ${folder}; ${text}`]);
        // The tests' own cache of compiled code is not in the image.
        const { NODE_COMPILE_CACHE: _, ...env } = process.env;
        const ended = await run(path, args, { timeoutMs: stepTimeoutMs, env });
        if (ended.failure !== undefined) throw stepFailed(line, text, ended);
        break;
      }
    }
  }
  return { place, user };
}

const stepFailed = (line: number, text: string, { failure, stdout, stderr }: RunResult): Error =>
  new Error(`line ${line}: RUN ${text}: ${failure}\n${stdout}${stderr}`);

/** Returns a path of the image on this machine. */
function placeIn(place: string, path: string): string {
  const own = ownFolders.find((one) => path === one || path.startsWith(`${one}/`));
  if (own === undefined) throw new Error(`${path} is a folder of the base`);
  return join(place, path);
}

/** Copies files of the repository without ignored ones, or folders of other stages. */
async function copy(source: string, target: string, isIgnored?: (path: string) => boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  if (!isIgnored) {
    const ended = await run('cp', ['--archive', '--no-target-directory', source, target], { timeoutMs: stepTimeoutMs });
    if (ended.failure !== undefined) throw new Error(`cp ${source}: ${ended.stderr}`);
    return;
  }
  const paths = globSync('**', { cwd: source, withFileTypes: true, exclude: (one) => one.name === 'node_modules' });
  if (paths.length === 0) return writeFile(target, await readFile(source));
  for (const entry of paths) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (isIgnored(path.slice(root.length))) continue;
    await cp(path, join(target, path.slice(source.length)));
  }
}

interface InImageOptions {
  readonly isReadOnly?: boolean;
  readonly writable?: string | undefined;
}

function inImage(place: string, user: string, args: readonly string[], options: InImageOptions = {}) {
  const { isReadOnly = false, writable } = options;
  const [uid, gid] = user.split(':');
  const mounts = ownFolders.map((own) => `mount --bind ${place}${own} ${own}`);
  const readOnly = [
    ...ownFolders.map((own) => `mount -o remount,bind,ro ${own}`),
    'mount -o remount,bind,ro /',
    ...(writable === undefined ? [] : [`mount --bind ${writable} ${writable}`, `mount -o remount,bind,rw ${writable}`]),
  ];
  const privileges = `setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --bounding-set=-all`;
  const run = uid === '0' ? 'exec "$@"' : `exec ${privileges} "$@"`;
  const script = [...mounts, ...(isReadOnly ? readOnly : []), run].join(' && ');
  return { path: 'unshare', args: ['--mount', 'sh', '-c', script, 'image', ...args] };
}

/** A user's machine: an empty home, kubectl, one version of Node, and no network except a registry of npm. */

import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../tools/run.ts';
import { tool } from '../../../tools/tool.ts';
import { root } from '../../examples/testing/documents.ts';
import { startRegistry } from './registry.ts';

const buildTimeoutMs = 5 * 60_000;

/** Builds the tarballs of what is checked out. */
export async function build(): Promise<void> {
  const { failure, stdout, stderr } = await run('npm', ['run', 'build'], { timeoutMs: buildTimeoutMs, cwd: root });
  if (failure !== undefined) throw new Error(`npm run build: ${failure}\n${stdout}\n${stderr}`);
}

export interface Machine extends AsyncDisposable {
  /** An existing folder for what documents put into /tmp. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The environment of a server, which needs Node 26. */
  readonly serverEnv: Readonly<Record<string, string>>;
}

/** `node`: the executable that `node` is on this machine. */
export async function startMachine(node: string): Promise<Machine> {
  const opened = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'hangar-packages-'));
  opened.defer(() => rm(home, { recursive: true, force: true }));
  const registry = opened.use(await startRegistry());
  const environment = async (folder: string, executable: string) => {
    const programs = join(home, folder);
    await mkdir(programs);
    await symlink(executable, join(programs, 'node'));
    await symlink(await tool('kubectl'), join(programs, 'kubectl'));
    return {
      PATH: `${programs}:${process.env['PATH']}`,
      HOME: home,
      npm_config_registry: registry.url,
      npm_config_cache: join(home, 'npm-cache'),
      // The registry does not have Node itself.
      npm_config_omit: 'optional',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    };
  };
  return {
    home,
    env: await environment('programs', node),
    serverEnv: await environment('server-programs', process.execPath),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Runs one case with one kubectl on one server: every step in a shell, its output normalised. */

import { spawn } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane, Kubeconfig } from '../servers/index.ts';
import { normalise } from './normalise.ts';
import type { Case } from './script.ts';

/** A server, with the resources that its cases share. */
export interface Ground {
  readonly plane: ControlPlane;
  readonly kubeconfig: Kubeconfig;
  /** Parent of the folders of cases. */
  readonly folder: string;
  /** Contains only `kubectl`. */
  readonly bin: string;
}

export interface Outcome {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

const manifests = fileURLToPath(new URL('manifests', import.meta.url));
const prelude = fileURLToPath(new URL('prelude.sh', import.meta.url));
const stepTimeoutMs = 60_000;

export async function runCase(ground: Ground, { steps }: Case, namespace: string): Promise<Outcome[]> {
  const folder = join(ground.folder, namespace);
  await cp(manifests, folder, { recursive: true });
  await mkdir(join(folder, '.tmp'));
  await writeFile(join(folder, '.kubeconfig'), JSON.stringify(inNamespace(ground.kubeconfig, namespace)));
  const environment = {
    PATH: `${ground.bin}:${process.env['PATH']}`,
    HOME: folder,
    TMPDIR: join(folder, '.tmp'),
    KUBECONFIG: join(folder, '.kubeconfig'),
    NS: namespace,
    LC_ALL: 'C',
    TZ: 'UTC',
    // It is short-lived: garbage collection is half of its cost.
    GOGC: 'off',
  };
  const outcomes: Outcome[] = [];
  for (const { command } of steps) {
    const { exit, stdout, stderr } = await runStep(command, folder, environment);
    const surroundings = { url: ground.plane.url, folder };
    outcomes.push({ exit, stdout: normalise(stdout, surroundings), stderr: normalise(stderr, surroundings) });
  }
  await rm(folder, { recursive: true, force: true });
  return outcomes;
}

function inNamespace(kubeconfig: Kubeconfig, namespace: string): Kubeconfig {
  const contexts = kubeconfig.contexts.map(({ name, context }) => ({ name, context: { ...context, namespace } }));
  return { ...kubeconfig, contexts };
}

async function runStep(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  // A separate process group, so that no process of a step outlives it.
  const child = spawn('bash', ['-c', `. ${prelude}\n${command}`], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All processes have exited.
    }
  };
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.on('exit', endGroup);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup();
  }, stepTimeoutMs);
  const exit = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? -1));
  });
  clearTimeout(timer);
  if (timedOut) stderr.push(Buffer.from(`(ended after ${stepTimeoutMs / 1000} s)\n`));
  return { exit, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

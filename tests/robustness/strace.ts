/** Runs a process under strace: counts its calls on some files, or makes the nth of them fail. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tool } from '../../tools/tool.ts';

export interface TracedProcess {
  /** The program and its arguments. */
  command: readonly string[];
  /** Only calls on these files count and fail; Node's own are left alone. */
  paths: readonly string[];
  /** Of strace itself. */
  outputPath: string;
  /** Of the process, when it must be a file. */
  stdoutPath?: string;
  env: NodeJS.ProcessEnv;
}

/** `n` counts in each thread separately: the fault hits the nth call of every thread that gets that far. */
export interface Fault {
  call: string;
  n: number;
  /** An errno, or SIGKILL, which ends the process at this call. */
  effect: string;
}

export interface TracedResult {
  stdout: string;
  stderr: string;
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface TraceOptions {
  calls: readonly string[];
  /** Write down what the process wrote, too. */
  data?: boolean;
  fault?: Fault;
}

export async function traced(process: TracedProcess, options: TraceOptions): Promise<TracedResult> {
  const { calls, data, fault } = options;
  const args = [
    '-f',
    // Stops the process only at the calls that matter; but then strace cannot send signals.
    ...(fault && isSignal(fault) ? [] : ['--seccomp-bpf']),
    ...(data ? ['-y', '-s', '1000000'] : []),
    '-o',
    process.outputPath,
    '-e',
    `trace=${calls.join()}`,
    ...(fault ? ['-e', `inject=${fault.call}:${effectOf(fault)}:when=${fault.n}`] : []),
    ...process.paths.flatMap((path) => ['-P', path]),
    ...process.command,
  ];
  const stdout = process.stdoutPath === undefined ? 'pipe' : openSync(process.stdoutPath, 'a');
  const child = spawn(await tool('strace'), args, { stdio: ['ignore', stdout, 'pipe'], env: process.env });
  const result: TracedResult = { stdout: '', stderr: '', code: null, signal: null };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (result.stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (result.stderr += text));
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return { ...result, code, signal };
  } finally {
    if (typeof stdout === 'number') closeSync(stdout);
  }
}

function isSignal({ effect }: Fault): boolean {
  return effect.startsWith('SIG');
}

function effectOf(fault: Fault): string {
  return `${isSignal(fault) ? 'signal' : 'error'}=${fault.effect}`;
}

/** How often the busiest thread made each call. */
export function countCalls(outputPath: string): Map<string, number> {
  const perThread = new Map<string, number>();
  for (const line of readFileSync(outputPath, 'utf8').split('\n')) {
    const [, thread, call] = /^(\d+)\s+(\w+)\(/.exec(line) ?? [];
    if (!call) continue;
    perThread.set(`${call} ${thread}`, (perThread.get(`${call} ${thread}`) ?? 0) + 1);
  }
  const counts = new Map<string, number>();
  for (const [name, count] of perThread) {
    const call = name.split(' ')[0]!;
    counts.set(call, Math.max(counts.get(call) ?? 0, count));
  }
  return counts;
}

/** Whether strace made a call fail. */
export function wasInjected(outputPath: string): boolean {
  return readFileSync(outputPath, 'utf8').includes('(INJECTED)');
}

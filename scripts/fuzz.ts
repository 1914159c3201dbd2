/**
 * `npm run fuzz -- [target…] [--runs N] [--seed N] [--fresh] [--seconds N]`: feeds the targets with hostile input.
 *
 * A target is a file `x.fuzz.ts` beside the code that it exercises; its name is its path without `src` and ending, and any part
 * of that selects it (`store` selects every target of the store). It exports `fuzz(random)`, one run, which throws
 * when something is wrong; and `runsDefault`, where the usual number of runs would take too long. A run is made from its
 * seed alone. Targets run in a separate thread, so that one that hangs is noticed and named. A run that fails is run
 * once more: if it passes then, the target continues and the seed is printed as flaky.
 */

import { randomInt } from 'node:crypto';
import { globSync } from 'node:fs';
import { inspect } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { asError, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { readCommandLine, runCommand, Usage, wholeNumber } from './command-line.ts';
import { excerpt, recordCounts } from './testing/report.ts';

const runsUsual = 20_000;
/** CPU time of one run: most take seconds. */
const hangsAfterCpuMs = 120_000;
/** For a run that waits without end. Other processes may take the cores for minutes. */
const hangsAfterMs = 600_000;
const progressEveryMs = 2_000;
const freshSeedMax = 2 ** 40;
/** More than any number of seconds is enough for; fits the array that counts runs. */
const runsWithoutEnd = 2 ** 31 - 1;
const root = new URL('..', import.meta.url);

interface Target {
  fuzz(random: Random): Promise<void> | void;
  runsDefault?: number;
}

interface Job {
  readonly file: string;
  readonly runs: number | undefined;
  readonly seed: number;
  /** No run starts after this many seconds; the first one always does. */
  readonly seconds: number;
  /** Progress of the thread: completed runs, and their total. */
  readonly progress: Int32Array;
}

if (isMainThread) await runCommand(main);
else await work(workerData as Job);

async function main(): Promise<boolean> {
  const { values, names } = readCommandLine(process.argv.slice(2), {
    usage: 'npm run fuzz --',
    namesHelp: '[part of the name of a target …]',
    options: {
      runs: { value: 'N', help: 'run each target N times' },
      seed: { value: 'SEED', help: 'the seed of the first run; 0 unless given' },
      fresh: { help: 'begin at a random seed, which is printed first' },
      seconds: { value: 'N', help: 'run each target for at most N seconds' },
    },
  });
  const seconds = wholeNumber('seconds', values.seconds, Infinity);
  const runs = wholeNumber('runs', values.runs, seconds === Infinity ? undefined : runsWithoutEnd);
  const seed = wholeNumber('seed', values.seed, values.fresh ? randomInt(freshSeedMax) : 0);
  const all = globSync('{packages,operators,services,apps}/*/src/**/*.fuzz.ts', { cwd: root }).sort();
  const files = all.filter((file) => names.length === 0 || names.some((part) => nameOf(file).includes(part)));
  if (files.length === 0) {
    throw new Usage(`no target matches "${names.join(' ')}"; known targets: ${all.map(nameOf).join(', ')}`, 2);
  }
  if (values.fresh) {
    const given = [
      ...names,
      '--seed',
      seed,
      ...(['runs', 'seconds'] as const).flatMap((name) => {
        return values[name] === undefined ? [] : [`--${name}`, values[name]];
      }),
    ];
    console.log(`fresh seeds; repeat with: npm run fuzz -- ${given.join(' ')}`);
  }
  const lines: string[] = [];
  let failed = 0;
  for (const file of files) {
    const result = await runTarget({ file, runs, seed, seconds });
    lines.push(...result.lines);
    if (!result.passed) failed++;
  }
  for (const line of lines) console.log(line);
  console.log(`${files.length - failed} targets passed, ${failed} failed`);
  recordCounts(files.length - failed, failed, lines);
  return failed === 0;
}

/** Runs a target. Repeats a seed that fails, and continues behind it if it passes the second time. */
async function runTarget(job: Omit<Job, 'progress'>): Promise<{ passed: boolean; lines: string[] }> {
  const name = nameOf(job.file);
  const lines: string[] = [];
  const endMs = performance.now() + job.seconds * 1_000;
  for (let { seed, runs, seconds } = job; ;) {
    const failure = await watch({ ...job, seed, runs, seconds, progress: newProgress() });
    if (!failure) return { passed: true, lines };
    const again = `npm run fuzz -- ${name} --seed ${failure.seed} --runs 1`;
    console.log(`again: ${again}`);
    const second = await watch({ ...job, seed: failure.seed, runs: 1, seconds: Infinity, progress: newProgress() });
    lines.push(`${second ? '✖' : 'flaky:'} ${again}`, excerpt((second ?? failure).problem));
    if (second) return { passed: false, lines };
    const done = failure.seed - seed + 1;
    seed += done;
    seconds = (endMs - performance.now()) / 1_000;
    if (runs !== undefined) runs -= done;
    if (runs === 0 || seconds <= 0) return { passed: true, lines };
  }
}

/** CPU time of this process, whose other threads have nothing to do. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function newProgress(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(8));
}

interface Failure {
  readonly seed: number;
  readonly problem: string;
}

/** Runs a target in a thread, prints its progress, and ends it when it hangs. Returns the first failure. */
async function watch(job: Job): Promise<Failure | undefined> {
  const name = nameOf(job.file);
  const startMs = performance.now();
  const worker = new Worker(new URL(import.meta.url), { workerData: job });
  const seconds = () => (performance.now() - startMs) / 1000;
  const rate = () => `${Math.round(job.progress[0]! / seconds())} runs a second`;
  let [last, changedMs, changedCpuMs, printedMs] = [-1, startMs, cpuMs(), startMs];
  const end = Promise.withResolvers<Failure | undefined>();
  const timer = setInterval(() => {
    const [done = 0, total = 0] = job.progress;
    const nowMs = performance.now();
    if (done !== last) [last, changedMs, changedCpuMs] = [done, nowMs, cpuMs()];
    else if (nowMs - changedMs > hangsAfterMs || cpuMs() - changedCpuMs > hangsAfterCpuMs) {
      end.resolve({ seed: job.seed + done, problem: 'hangs' });
    }
    if (nowMs - printedMs < progressEveryMs) return;
    printedMs = nowMs;
    console.log(`  ${name}: ${done}${total === runsWithoutEnd ? '' : ` of ${total}`}, ${rate()}`);
  }, 200);
  worker.on('message', (failure: Failure) => end.resolve(failure));
  worker.on('error', (error) => {
    end.resolve({ seed: job.seed + job.progress[0]!, problem: asError(error).stack ?? '' });
  });
  worker.on('exit', () => {
    const [done = 0, total = 0] = job.progress;
    // A thread ends when its event loop is empty, even if a promise is still awaited.
    end.resolve(done < total ? { seed: job.seed + done, problem: 'awaits a promise that never settles' } : undefined);
  });
  const failure = await end.promise;
  clearInterval(timer);
  await worker.terminate();
  console.log(
    `${failure ? '✖' : '✔'} ${name}  ${job.progress[0]} runs, ${rate()}${failure ? `: ${failure.problem}` : ''}`,
  );
  return failure;
}

/** Runs in the thread. */
async function work({ file, runs, seed, seconds, progress }: Job): Promise<void> {
  const target = (await import(new URL(file, root).href)) as Target;
  progress[1] = runs ?? target.runsDefault ?? runsUsual;
  const endMs = performance.now() + seconds * 1_000;
  for (let run = 0; run < progress[1]; run++) {
    if (run > 0 && performance.now() >= endMs) {
      progress[1] = run;
      return;
    }
    try {
      await target.fuzz(seededRandom(seed + run));
    } catch (error) {
      parentPort!.postMessage({ seed: seed + run, problem: inspect(error) } satisfies Failure);
      return;
    }
    progress[0] = run + 1;
  }
}

function nameOf(file: string): string {
  return file
    .split('/')
    .filter((part) => part !== 'src')
    .slice(1)
    .join('/')
    .replace(/\.fuzz\.ts$/, '');
}

/**
 * `npm run fuzz -- [target…] [--runs N] [--seed N] [--fresh] [--seconds N]`: feeds the targets with hostile input.
 *
 * A target is a file `x.fuzz.ts` beside what it exercises; its name is its path without `src` and ending, and any part
 * of that selects it (`store` selects every target of the store). It exports `fuzz(random)`, one run, which throws
 * when something is wrong; and `runsDefault`, where the usual number of runs would take too long. A run is made from its
 * seed alone. Targets run in a thread of their own, so that one that hangs is noticed and named.
 */

import { randomInt } from 'node:crypto';
import { globSync } from 'node:fs';
import { inspect } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { asError, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { readCommandLine, runCommand, Usage, wholeNumber } from './command-line.ts';

const runsUsual = 20_000;
/** A run takes seconds, and more than half a minute on a busy machine. */
const hangsAfterMs = 120_000;
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
  /** No run begins after so many seconds; the first one always does. */
  readonly seconds: number;
  /** What the thread is at: the number of runs done, and how many there are. */
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
  const all = globSync('{packages,operators,apps}/*/src/**/*.fuzz.ts', { cwd: root }).sort();
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
  let failed = 0;
  for (const file of files) {
    const progress = new Int32Array(new SharedArrayBuffer(8));
    if (!(await watch({ file, runs, seed, seconds, progress }))) failed++;
  }
  console.log(`${files.length - failed} targets passed, ${failed} failed`);
  return failed === 0;
}

/** Runs a target in a thread, tells how it goes, and ends it when it does not. */
async function watch(job: Job): Promise<boolean> {
  const name = nameOf(job.file);
  const startMs = performance.now();
  const worker = new Worker(new URL(import.meta.url), { workerData: job });
  const seconds = () => (performance.now() - startMs) / 1000;
  const rate = () => `${Math.round(job.progress[0]! / seconds())} runs a second`;
  let [last, changedMs, printedMs] = [-1, startMs, startMs];
  const end = Promise.withResolvers<string | undefined>();
  const timer = setInterval(() => {
    const [done = 0, total = 0] = job.progress;
    const nowMs = performance.now();
    if (done !== last) [last, changedMs] = [done, nowMs];
    else if (nowMs - changedMs > hangsAfterMs) end.resolve(`hangs\n${again(job.seed + done)}`);
    if (nowMs - printedMs < progressEveryMs) return;
    printedMs = nowMs;
    console.log(`  ${name}: ${done}${total === runsWithoutEnd ? '' : ` of ${total}`}, ${rate()}`);
  }, 200);
  worker.on('message', (problem: { seed: number; text: string }) => {
    end.resolve(`fails\n${problem.text}\n${again(problem.seed)}`);
  });
  worker.on('error', (error) => end.resolve(`fails\n${asError(error).stack}\n${again(job.seed + job.progress[0]!)}`));
  worker.on('exit', () => {
    const [done = 0, total = 0] = job.progress;
    // A thread in which nothing is left to happen ends, whatever it still awaits.
    end.resolve(done < total ? `waits for what never comes\n${again(job.seed + done)}` : undefined);
  });
  const problem = await end.promise;
  clearInterval(timer);
  await worker.terminate();
  console.log(`${problem ? '✖' : '✔'} ${name}  ${job.progress[0]} runs, ${rate()}${problem ? `: ${problem}` : ''}`);
  return !problem;

  function again(seed: number): string {
    return `again: npm run fuzz -- ${name} --seed ${seed} --runs 1`;
  }
}

/** In the thread. */
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
      parentPort!.postMessage({ seed: seed + run, text: inspect(error) });
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

/**
 * `npm run fuzz -- [target…] [--runs N] [--seed N]`: feeds the targets with what nobody would send on purpose.
 *
 * A target is a file `x.fuzz.ts` beside what it exercises; its name is its path without `src` and ending, and any part
 * of that selects it (`store` selects every target of the store). It exports `fuzz(random)`, one run, which throws
 * when something is wrong; and `runsDefault`, where the usual number of runs would take too long. A run is made from its
 * seed alone. Targets run in a thread of their own, so that one that hangs is noticed and named.
 */

import { globSync } from 'node:fs';
import { inspect, parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { asError, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';

const runsUsual = 20_000;
const hangsAfterMs = 30_000;
const progressEveryMs = 2_000;
const root = new URL('..', import.meta.url);

interface Target {
  fuzz(random: Random): Promise<void> | void;
  runsDefault?: number;
}

interface Job {
  readonly file: string;
  readonly runs: number | undefined;
  readonly seed: number;
  /** What the thread is at: the number of runs done, and how many there are. */
  readonly progress: Int32Array;
}

if (isMainThread) process.exitCode = (await main()) ? 0 : 1;
else await work(workerData as Job);

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { runs: { type: 'string' }, seed: { type: 'string', default: '0' } },
  });
  const [runs, seed] = [values.runs === undefined ? undefined : Number(values.runs), Number(values.seed)];
  if (!Number.isSafeInteger(runs ?? 0) || !Number.isSafeInteger(seed)) {
    console.error('--runs and --seed take whole numbers');
    return false;
  }
  const files = globSync('{packages,operators,apps}/*/src/**/*.fuzz.ts', { cwd: root })
    .filter((file) => positionals.length === 0 || positionals.some((part) => nameOf(file).includes(part)))
    .sort();
  if (files.length === 0) console.error(`no target matches ${positionals.join(' ')}`);
  let failed = 0;
  for (const file of files) {
    const progress = new Int32Array(new SharedArrayBuffer(8));
    if (!(await watch({ file, runs, seed, progress }))) failed++;
  }
  console.log(`${files.length - failed} targets passed, ${failed} failed`);
  return failed === 0 && files.length > 0;
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
    console.log(`  ${name}: ${done} of ${total}, ${rate()}`);
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
async function work({ file, runs, seed, progress }: Job): Promise<void> {
  const target = (await import(new URL(file, root).href)) as Target;
  progress[1] = runs ?? target.runsDefault ?? runsUsual;
  for (let run = 0; run < progress[1]; run++) {
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

/** A process that runs test files one after the other, seen from the runner. See `worker.ts`. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Failure, FileResult, Report, Request } from './result.ts';

export interface Limits {
  /** A file that takes longer fails. */
  readonly fileMs: number;
  /** A file without a result and without output for this time hangs and fails. */
  readonly silenceMs: number;
}

export interface TestProcessOptions {
  readonly root: string;
  readonly limits: Limits;
  /** Options of Node for the process. */
  readonly nodeOptions?: readonly string[] | undefined;
  /** Receives the output while the file runs. Without it the end of the output is kept for the result. */
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Receives errors of files that are already finished. */
  readonly onLateFailure: (file: string, failure: Failure) => void;
}

const outputCharactersMax = 20_000;
const running = new Set<TestProcess>();

/** Stops all processes, with the programs that their tests started. */
export function killAll(): void {
  for (const one of running) one.kill();
}

export class TestProcess {
  readonly #options: TestProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  #run: Run | undefined;
  /** Set as soon as the process must not run another file. */
  retired: string | undefined;

  constructor(options: TestProcessOptions) {
    this.#options = options;
    const script = fileURLToPath(new URL('./worker.ts', import.meta.url));
    const reporter = new URL('./reporter.ts', import.meta.url).href;
    // In a separate process group, so that a process that hangs is killed with everything that its tests started.
    this.#child = spawn(
      process.execPath,
      [...(options.nodeOptions ?? []), `--test-reporter=${reporter}`, '--test-reporter-destination=stdout', script],
      {
        cwd: options.root,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        detached: true,
        env: {
          // Threads and programs that tests start load the same modules many times.
          NODE_COMPILE_CACHE: `${options.root}node_modules/.cache/hangar-tests`,
          // Programs of Kubernetes live for seconds in a test, and use a quarter of their CPU time for garbage collection by default.
          GOGC: '400',
          ...process.env,
        },
      },
    );
    running.add(this);
    this.#exited = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(`the process did not start: ${error.message}`));
      this.#child.on('exit', (code, signal) =>
        resolve(signal ? `the process was killed by ${signal}` : `the process exited with code ${code}`),
      );
    });
    void this.#exited.then((how) => {
      running.delete(this);
      this.retired ??= how;
      this.#run?.end(how);
    });
    this.#child.on('message', (report: Report) => this.#receive(report));
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#run?.progress(text);
        options.onOutput?.(text);
      });
    }
  }

  /** Runs one file. A crash or a hang is a failure of the file, and retires the process. */
  async run(file: string): Promise<FileResult> {
    const run = new Run(file, this.#options.limits);
    this.#run = run;
    this.#send({ kind: 'run', file: this.#options.root + file });
    const problem = await run.ended;
    if (problem !== undefined) {
      this.retired ??= problem;
      this.kill();
      run.failures.push({ test: run.test, text: problem });
    }
    this.#run = undefined;
    return run.result();
  }

  /** Lets the process exit by itself. Returns the reason if it does not: the last file left a handle open. */
  async exit(): Promise<string | undefined> {
    this.#send({ kind: 'exit' });
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), this.#options.limits.silenceMs);
    const how = await Promise.race([this.#exited, late.promise]);
    clearTimeout(timer);
    // Programs that a test started and did not stop are in the group of the process, too.
    this.kill();
    return how === undefined
      ? `the process did not exit after the last test: ${this.retired ?? 'unknown cause'}`
      : undefined;
  }

  kill(): void {
    try {
      process.kill(-this.#child.pid!, 'SIGKILL');
    } catch {
      // The process and its group are gone.
    }
  }

  #send(request: Request): void {
    // A failure to send means that the process exited, which ends the run of its file.
    if (this.#child.connected) this.#child.send(request, () => {});
  }

  #receive(report: Report): void {
    if (report.kind === 'stray') {
      const file = report.file.slice(this.#options.root.length);
      if (file === this.#run?.file) this.#run.failures.push(report.failure);
      else this.#options.onLateFailure(file, report.failure);
      return;
    }
    const run = this.#run;
    run?.progress();
    switch (report.kind) {
      case 'started':
        if (run) run.test = report.test;
        return;
      case 'passed':
        if (run) run.passed++;
        return;
      case 'failed':
        run?.failures.push(report.failure);
        return;
      case 'finished':
        this.retired ??= report.retire;
        if (run) run.cpuMs = report.cpuMs;
        run?.end(undefined);
    }
  }
}

/** One file while it runs. */
class Run {
  readonly file: string;
  readonly failures: Failure[] = [];
  /** Resolves with the reason if the file did not get to its end. */
  readonly ended: Promise<string | undefined>;
  readonly end: (problem: string | undefined) => void;
  readonly #startMs = performance.now();
  readonly #limits: Limits;
  readonly #limit: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  #durationMs = 0;
  #output = '';
  passed = 0;
  cpuMs = 0;
  /** The test that started last: the suspect if the file hangs or crashes. */
  test = '(load)';

  constructor(file: string, limits: Limits) {
    this.file = file;
    this.#limits = limits;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.end = (problem) => {
      this.#durationMs = performance.now() - this.#startMs;
      clearTimeout(this.#limit);
      clearTimeout(this.#silence);
      resolve(problem);
    };
    this.#limit = setTimeout(() => this.end(`the file did not finish in ${limits.fileMs / 1000} s`), limits.fileMs);
    this.#silence = this.#watchSilence();
  }

  progress(output = ''): void {
    this.#output = (this.#output + output).slice(-outputCharactersMax);
    clearTimeout(this.#silence);
    this.#silence = this.#watchSilence();
  }

  result(): FileResult {
    const { file, passed, failures, cpuMs } = this;
    return { file, passed, failures, cpuMs, durationMs: this.#durationMs, output: this.#output };
  }

  #watchSilence(): NodeJS.Timeout {
    const { silenceMs } = this.#limits;
    return setTimeout(() => this.end(`no result and no output for ${silenceMs / 1000} s`), silenceMs);
  }
}

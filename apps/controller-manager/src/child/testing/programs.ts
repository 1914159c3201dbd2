/** Programs for tests: bash scripts, in a temporary work directory. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Logger, systemClock } from '@hangar/core';
import type { ProgramOptions, Programs, RunningProgram } from '../contract.ts';
import { newPrograms } from '../programs.ts';
import type { ProgramsOptions } from '../programs.ts';

export interface TestPrograms {
  readonly programs: Programs;
  readonly workDir: string;
  /** Output of the programs. */
  readonly lines: string[];
  /** Defaults to cluster `one`, with an ownership that does not expire. */
  start(script: string, options?: Partial<ProgramOptions>): Promise<RunningProgram>;
}

/** Runs until it is terminated. */
export const waiting = 'exec sleep 1000';
/** Ignores SIGTERM. */
export const stubborn = `trap '' TERM; echo deaf; while :; do sleep 0.02; done`;

export const owned = (remainingMs = Infinity): ProgramOptions['ownership'] => ({
  check() {},
  remainingMs: () => remainingMs,
  signal: new AbortController().signal,
});

export function scripted(script: string, options: Partial<ProgramOptions> = {}): ProgramOptions {
  return {
    cluster: 'one',
    service: 'controllers',
    executable: '/bin/bash',
    argv0: 'a-program',
    arguments: () => ['-c', script],
    files: {},
    memoryLimitBytes: undefined,
    ownership: owned(),
    ...options,
  };
}

export const silentLog = new Logger({ level: 'silent', format: 'text', clock: systemClock });

export function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-child-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Kills running programs after the test. */
export function testPrograms(context: TestContext, options: Partial<ProgramsOptions> = {}): TestPrograms {
  const workDir = join(temporaryFolder(context), 'work');
  const lines: string[] = [];
  const programs = newPrograms({
    workDir,
    ports: { from: 22_000, to: 22_999 },
    clock: systemClock,
    log: silentLog,
    writeLines: (text) => lines.push(...text.split(/(?<=\n)/)),
    ...options,
  });
  return {
    programs,
    workDir,
    lines,
    async start(script, some) {
      const program = await programs.start(scripted(script, some));
      context.after(() => program.stop(0));
      return program;
    },
  };
}

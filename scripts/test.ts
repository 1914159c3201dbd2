/** `npm test` and `npm run test:real`: runs test files and prints the results. See `usage` and CONTRIBUTING.md. */

import { parseArgs } from 'node:util';
import { changedFiles } from './testing/changed-files.ts';
import { runFiles } from './testing/pool.ts';
import { printDetails, printFile, printSummary } from './testing/report.ts';
import type { FileResult } from './testing/result.ts';
import { readDependencies, selectAffected } from './testing/select-affected.ts';
import { filesOf, inStartOrder, limitsOf, mayShareProcess, shuffled, suites } from './testing/suites.ts';
import type { Suite } from './testing/suites.ts';
import { killAll } from './testing/test-process.ts';

const usage = `usage: npm test [-- [OPTION…] [PATH…]]
       npm run test:real [-- [OPTION…] [PATH…]]

Runs the test files whose path contains one of the given parts; without PATH, all of them. A file that fails runs
once more, alone. Files that pass then are printed as flaky and do not fail the run.

  --changed        only files affected by changes since the merge base with main; on main, since the previous commit
  --list           print the selected files and exit
  --shuffle[=SEED] run the files in a random order, or in the order of the seed
  --help           print this text`;

const root = new URL('..', import.meta.url).pathname;

process.on('SIGINT', () => stop(130));
process.on('SIGTERM', () => stop(143));
process.exitCode = await main(process.argv.slice(2));

async function main([name = '', ...args]: string[]): Promise<number> {
  const suite = suites[name];
  if (!suite) return fail(`unknown suite "${name}": the suites are ${Object.keys(suites).join(' and ')}`);
  let options;
  try {
    options = parse(args);
  } catch (error) {
    return fail((error as Error).message);
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  let files = filesOf(suite, root);
  if (options.parts.length > 0) {
    files = files.filter((file) => options.parts.some((part) => file.includes(part)));
    if (files.length === 0) return fail(`no ${name} test matches ${options.parts.join(' ')}`);
  }
  if (options.changed) {
    const changes = changedFiles(root);
    if (typeof changes === 'string') return fail(changes);
    files = selectAffected({ tests: files, changed: changes.files, dependencies: readDependencies(root) });
    console.log(
      `${changes.files.length} files changed since ${changes.base}: ${files.length} ${name} test files affected`,
    );
  }
  if (options.shuffle !== undefined) {
    console.log(`order: --shuffle=${options.shuffle}`);
    files = shuffled(files, options.shuffle);
  } else files = [...inStartOrder(suite, files)];
  if (options.list) {
    for (const file of files) console.log(file);
    return 0;
  }
  return run(name, suite, files);
}

function parse(args: string[]) {
  const { values, positionals } = parseArgs({
    // `--shuffle` has an optional value.
    args: args.map((arg) => (arg === '--shuffle' ? `--shuffle=${Math.floor(Math.random() * 2 ** 31)}` : arg)),
    allowPositionals: true,
    options: {
      changed: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      shuffle: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const shuffle = values.shuffle === undefined ? undefined : Number(values.shuffle);
  if (shuffle !== undefined && !Number.isSafeInteger(shuffle)) throw new Error('--shuffle takes a whole number');
  return { ...values, shuffle, parts: positionals };
}

function fail(problem: string): number {
  console.error(`${problem}\n\n${usage}`);
  return 2;
}

async function run(name: string, suite: Suite, files: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const { limits } = suite;
  const pass = (some: readonly string[], concurrency: number, mayShare: (file: string) => boolean) =>
    runFiles(some, {
      root,
      limits,
      concurrency,
      mayShare,
      ...limitsOf(suite),
      onResult: printFile,
      onOutput: suite.printsOutput ? (text) => process.stdout.write(text.replace(/^(?=.)/gm, '  ')) : undefined,
    });
  const isAlone = (file: string): boolean => suite.alone?.test(file) ?? false;
  const mayShare = (file: string): boolean => mayShareProcess(suite, root + file);
  const first = [
    ...(await pass(
      files.filter((file) => !isAlone(file)),
      suite.concurrency,
      mayShare,
    )),
    ...(await pass(files.filter(isAlone), 1, mayShare)),
  ];
  const failed = first.filter(({ failures }) => failures.length > 0);
  for (const result of failed) printDetails(result);
  let again: FileResult[] = [];
  if (failed.length > 0) {
    console.log(`\n${failed.length} files failed and run once more, each alone`);
    again = await pass(
      failed.map(({ file }) => file),
      1,
      () => false,
    );
    for (const result of again) printDetails(result);
  }
  return printSummary({ name, first, again, durationMs: performance.now() - startMs }) ? 0 : 1;
}

function stop(code: number): void {
  killAll();
  process.exit(code);
}

/**
 * Runs the tests: `unit` needs nothing but what `npm ci` brought, `real` gets the real programs it needs by itself.
 * Prints a line per file as it ends, what failed once more by its name, and `N passed, N failed` last; with HANGAR_TEST_COUNTS
 * it also appends counts and names to that file, for whoever runs both.
 */

import { appendFileSync, globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

interface Suite {
  readonly pattern: string;
  readonly timeoutMs: number;
  /** Files that do not mind each other; all others come last, one after the other. */
  readonly together: RegExp;
}

const suites: Record<string, Suite> = {
  unit: { pattern: '*.test.ts', timeoutMs: 5 * 60_000, together: /./ },
  // Real programs compete for the machine. Alone are those that measure time, or whose limits of time are Kubernetes' own.
  real: {
    pattern: '*.real.ts',
    timeoutMs: 20 * 60_000,
    together: /^(?!.*(e2e|essential|leader-election|tests\/(controller-manager|platform|readme)\/))/,
  },
};

const [name = '', ...only] = process.argv.slice(2);
const suite = suites[name];
if (!suite) {
  console.error(`usage: node scripts/test.ts ${Object.keys(suites).join('|')} [path or part of a path…]`);
  process.exit(2);
}

const root = new URL('..', import.meta.url).pathname;
const files = globSync(`{packages,operators,apps,bench,scripts,tests,tools}/**/${suite.pattern}`, { cwd: root })
  .filter((file) => !file.includes('node_modules'))
  .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) {
  console.error(`no ${name} test matches ${only.join(' ')}`);
  process.exit(1);
}

const counts = { passed: 0, failed: 0 };
const failures: string[] = [];
const startedMs = performance.now();
const together = files.filter((file) => suite.together.test(file));
await pass(together, availableParallelism());
await pass(
  files.filter((file) => !together.includes(file)),
  1,
);

console.log(`${name}: ${files.length} files in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
for (const failure of failures) console.log(failure);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
if (process.env['HANGAR_TEST_COUNTS']) {
  const lines = [`${counts.passed} ${counts.failed}`, ...failures];
  appendFileSync(process.env['HANGAR_TEST_COUNTS'], `${lines.join('\n')}\n`);
}
process.exitCode = counts.failed > 0 ? 1 : 0;

async function pass(some: readonly string[], concurrency: number): Promise<void> {
  if (some.length === 0) return;
  const stream = run({ files: some.map((file) => root + file), concurrency, timeout: suite!.timeoutMs });
  let failed = 0;
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) {
      const seconds = (summary.duration_ms / 1000).toFixed(1);
      const { passed, tests } = summary.counts;
      console.log(`${summary.success ? '✔' : '✖'} ${relative(root, summary.file)}  ${passed}/${tests}  ${seconds} s`);
      return;
    }
    failed = summary.counts.tests - summary.counts.passed;
    if (!summary.success && failed === 0) failed = 1;
    counts.passed += summary.counts.passed;
    counts.failed += failed;
  });
  stream.on('test:fail', ({ name: test, file = '', details }) => {
    // Whatever contains it failed, too.
    const { failureType } = details.error as { failureType?: string };
    if (failureType !== 'subtestsFailed') failures.push(`✖ ${relative(root, file)}: ${test}`);
  });
  // What real tests print is their progress and their figures.
  if (name === 'real') stream.on('test:stdout', ({ message }) => process.stdout.write(`  ${message}`));
  // Details only of what failed: `spec` prints every test, which nobody reads in a log of thousands.
  const report = stream.compose(spec);
  let details = '';
  report.on('data', (text: Buffer) => (details += text.toString()));
  await new Promise((resolve) => report.on('end', resolve));
  if (failed > 0) console.log(details.slice(details.lastIndexOf('failing tests:') - 40));
}

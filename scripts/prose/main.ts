/**
 * `npm run prose -- [paths]` lists the findings of strings, documents and exported doc comments; `--all` adds all other comments.
 * `--check`, which `npm run check` runs, fails when a package has more findings than `baseline.json` allows.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { readCommandLine, runCommand } from '../command-line.ts';
import { countsOf, entriesOf, excesses, lowered } from './baseline.ts';
import type { Counts } from './baseline.ts';
import { textOf } from './findings.ts';
import { readProse, scopes } from './scopes.ts';
import type { Prose } from './scopes.ts';

const root = new URL('../..', import.meta.url).pathname;
const baselineFile = new URL('baseline.json', import.meta.url);
const listedMax = 40;

await runCommand(async () => {
  const { values, names } = readCommandLine(process.argv.slice(2), {
    usage: 'npm run prose --',
    namesHelp: '[paths]',
    options: {
      all: { help: 'also list comments that are not exported' },
      count: { help: 'print the number of findings for each scope and package' },
      check: { help: 'fail when a package has more findings than the baseline allows' },
      update: { help: 'lower the baseline to the findings of today' },
    },
  });
  const prose = readProse(root);
  const baseline = JSON.parse(readFileSync(baselineFile, 'utf8')) as Counts;
  if (values.check) return check(prose, baseline);
  if (values.update) {
    writeFileSync(baselineFile, `${JSON.stringify(lowered(baseline, prose.findings), undefined, 2)}\n`);
    return true;
  }
  const paths = names.map((name) => name.replace(/^\.\//, '').replace(/\/$/, ''));
  const selected = prose.findings.filter(
    ({ file, scope }) =>
      (values.all || values.count || scope !== 'comments') &&
      (paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`))),
  );
  if (values.count) {
    for (const scope of scopes) {
      const ofScope = selected.filter((finding) => finding.scope === scope);
      console.log(`${scope}: ${ofScope.length}`);
      for (const { name, count } of entriesOf(countsOf(ofScope))) console.log(`  ${name}: ${count}`);
    }
    return true;
  }
  for (const finding of selected) console.log(textOf(finding));
  console.log(`${selected.length} findings`);
  return selected.length === 0;
});

function check({ findings, unusedQuotations }: Prose, baseline: Counts): boolean {
  const problems = excesses(findings, baseline);
  const changed = problems.length > 0 ? changedFiles() : new Set<string>();
  for (const problem of problems) {
    const inChanged = problem.findings.filter(({ file }) => changed.has(file));
    const listed = problem.findings.length <= listedMax || inChanged.length === 0 ? problem.findings : inChanged;
    for (const finding of listed.slice(0, listedMax)) console.error(textOf(finding));
    console.error(
      `${problem.package}: ${problem.count} findings in ${problem.scope}, the baseline allows ${problem.allowed}: rewrite the lines that you changed`,
    );
  }
  for (const text of unusedQuotations) {
    console.error(`scripts/prose/quotations.ts: no text contains "${text}": remove the entry`);
  }
  const slack = entriesOf(baseline).reduce((sum, { count }) => sum + count, 0) - findings.length;
  const advice = slack > 0 && problems.length === 0 ? ', fewer than the baseline: run `npm run prose -- --update`' : '';
  console.log(`${findings.length} findings${advice}`);
  return problems.length === 0 && unusedQuotations.length === 0;
}

/** The files of the last commit and of the work tree, where an added finding most likely is. Empty without git. */
function changedFiles(): Set<string> {
  const { stdout } = spawnSync('git', ['diff', '--name-only', 'HEAD~1'], { cwd: root, encoding: 'utf8' });
  return new Set((stdout ?? '').split('\n'));
}

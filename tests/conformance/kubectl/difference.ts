/** Compares the outputs of kubectl on two servers, and prints readable differences. */

import type { Outcome } from './run-case.ts';
import type { Step } from './script.ts';

const linesMax = 60;
const contextLines = 2;

/** Returns one paragraph for each step that differs; empty when the servers behave alike. */
export function differences(steps: readonly Step[], real: readonly Outcome[], ours: readonly Outcome[]): string[] {
  return steps.flatMap(({ command }, index) => {
    const [expected, actual] = [real[index]!, ours[index]!];
    const parts = (['exit', 'stdout', 'stderr'] as const).flatMap((part) => {
      const [a, b] = [String(expected[part]), String(actual[part])];
      return a === b ? [] : [`${part}:\n${lineDifference(a, b)}`];
    });
    return parts.length === 0 ? [] : [`$ ${command}\n${parts.join('\n')}`];
  });
}

/** Steps whose result on the real server contradicts their script: then the case does not test what it claims to. */
export function surprises(steps: readonly Step[], real: readonly Outcome[]): string[] {
  return steps.flatMap(({ command, fails }, index) => {
    const { exit, stdout, stderr } = real[index]!;
    if ((exit !== 0) === fails) return [];
    return [`$ ${command}\nwas to ${fails ? 'fail' : 'succeed'} on the real server, exit ${exit}\n${stdout}${stderr}`];
  });
}

/** `-` is the output of the real server, `+` ours. */
export function lineDifference(real: string, ours: string): string {
  const [before, after] = [real.split('\n'), ours.split('\n')];
  const lines = align(before, after);
  const changed = lines.map(({ sign }) => sign !== ' ');
  const near = (index: number): boolean =>
    changed.slice(Math.max(0, index - contextLines), index + contextLines + 1).includes(true);
  const shown = lines.flatMap(({ sign, text }, index) => {
    if (near(index)) return [`${sign} ${text}`];
    return near(index - 1) ? ['  …'] : [];
  });
  if (shown.length <= linesMax) return shown.join('\n');
  return [...shown.slice(0, linesMax), `… ${shown.length - linesMax} more lines`].join('\n');
}

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** By the longest common subsequence, between the common beginning and the common end. */
function align(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  const [a, b] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const same = (text: string): Line => ({ sign: ' ', text });
  const middle = a.length * b.length > 4_000_000 ? replaced(a, b) : subsequence(a, b);
  return [...before.slice(0, head).map(same), ...middle, ...before.slice(before.length - tail).map(same)];
}

const replaced = (a: readonly string[], b: readonly string[]): Line[] => [
  ...a.map((text): Line => ({ sign: '-', text })),
  ...b.map((text): Line => ({ sign: '+', text })),
];

function subsequence(a: readonly string[], b: readonly string[]): Line[] {
  const width = b.length + 1;
  // lengths[i * width + j]: the longest common subsequence of a from i and b from j.
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i++]! });
      j++;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) lines.push({ sign: '-', text: a[i++]! });
    else lines.push({ sign: '+', text: b[j++]! });
  }
  return [...lines, ...replaced(a.slice(i), b.slice(j))];
}

/** Differences of two texts in the unified format of `diff -u`, as kubectl diff prints them. */

const contextLines = 3;

export interface DiffTexts {
  readonly before: string;
  readonly after: string;
  /** Names in the two lines of the head. */
  readonly beforeName: string;
  readonly afterName: string;
}

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Returns an empty text if there is no difference. The time is proportional to the product of the numbers of lines. */
export function unifiedDiff({ before, after, beforeName, afterName }: DiffTexts): string {
  if (before === after) return '';
  const lines = compared(linesOf(before), linesOf(after));
  const text = hunksOf(lines).map(([from, to]) => hunkText(lines, from, to));
  return [`--- ${beforeName}\n`, `+++ ${afterName}\n`, ...text].join('');
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Aligns both lists by a longest common subsequence. Removed lines come before added ones. */
function compared(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  // Length of the longest common subsequence of the rests that begin at each pair of positions.
  const common = new Uint32Array((before.length + 1) * width);
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      common[a * width + b] =
        before[a] === after[b]
          ? common[(a + 1) * width + b + 1]! + 1
          : Math.max(common[(a + 1) * width + b]!, common[a * width + b + 1]!);
    }
  }
  const lines: Line[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      lines.push({ sign: ' ', text: before[a++]! });
      b += 1;
    } else if (
      a < before.length &&
      (b === after.length || common[(a + 1) * width + b]! >= common[a * width + b + 1]!)
    ) {
      lines.push({ sign: '-', text: before[a++]! });
    } else {
      lines.push({ sign: '+', text: after[b++]! });
    }
  }
  return lines;
}

/** Returns the ranges of lines around differences; ranges that touch are one. */
function hunksOf(lines: readonly Line[]): [from: number, to: number][] {
  const hunks: [number, number][] = [];
  for (const [at, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    const [from, to] = [Math.max(0, at - contextLines), Math.min(lines.length, at + contextLines + 1)];
    const last = hunks.at(-1);
    if (last && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

function hunkText(lines: readonly Line[], from: number, to: number): string {
  const count = (range: readonly Line[], other: Line['sign']): number =>
    range.filter(({ sign }) => sign !== other).length;
  const place = (other: Line['sign']): string => {
    const [first, length] = [count(lines.slice(0, from), other), count(lines.slice(from, to), other)];
    return `${length === 0 ? first : first + 1},${length}`;
  };
  const head = `@@ -${place('+')} +${place('-')} @@\n`;
  return (
    head +
    lines
      .slice(from, to)
      .map(({ sign, text }) => `${sign}${text}\n`)
      .join('')
  );
}

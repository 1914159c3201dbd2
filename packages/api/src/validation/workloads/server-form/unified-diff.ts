/**
 * The differences of two texts by lines, in the unified form with three lines of context. The choice among equally good alignments is that
 * of Python's difflib, from which kube-apiserver's comes: the longest common block first, then the parts left and right of it.
 */

interface Match {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

type Change = 'equal' | 'replace' | 'delete' | 'insert';

interface Step {
  readonly change: Change;
  readonly a: readonly [from: number, to: number];
  readonly b: readonly [from: number, to: number];
}

const context = 3;
/** Comparing costs up to the product of the lengths; beyond this only the ends are compared. */
const linesMax = 20_000;

export function unifiedDiff(before: string, after: string): string {
  const a = before.split('\n').map((line) => `${line}\n`);
  const b = after.split('\n').map((line) => `${line}\n`);
  const groups = groupsOf(stepsOf(a, b));
  if (groups.length === 0) return '';
  return groups.map((group) => hunk(group, a, b)).join('');
}

function hunk(group: readonly Step[], a: readonly string[], b: readonly string[]): string {
  const [first, last] = [group[0]!, group.at(-1)!];
  const lines = [`@@ -${range(first.a[0], last.a[1])} +${range(first.b[0], last.b[1])} @@\n`];
  for (const { change, a: fromA, b: fromB } of group) {
    if (change === 'equal') {
      lines.push(...a.slice(...fromA).map((line) => ` ${line}`));
      continue;
    }
    if (change !== 'insert') lines.push(...a.slice(...fromA).map((line) => `-${line}`));
    if (change !== 'delete') lines.push(...b.slice(...fromB).map((line) => `+${line}`));
  }
  return lines.join('');
}

function range(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return `${start + 1}`;
  return `${length === 0 ? start : start + 1},${length}`;
}

/** Changes that are near each other, with their context. */
function groupsOf(steps: readonly Step[]): Step[][] {
  const trimmed = steps.map((step) => ({ ...step }));
  const first = trimmed[0];
  if (first?.change === 'equal') trimmed[0] = keepEnd(first);
  const last = trimmed.at(-1);
  if (last?.change === 'equal') trimmed[trimmed.length - 1] = keepStart(last);
  const groups: Step[][] = [];
  let group: Step[] = [];
  for (const step of trimmed) {
    if (step.change === 'equal' && step.a[1] - step.a[0] > 2 * context) {
      groups.push([...group, keepStart(step)]);
      group = [keepEnd(step)];
    } else {
      group.push(step);
    }
  }
  groups.push(group);
  return groups.filter((one) => one.some(({ change }) => change !== 'equal'));
}

const keepStart = ({ change, a, b }: Step): Step => ({
  change,
  a: [a[0], Math.min(a[1], a[0] + context)],
  b: [b[0], Math.min(b[1], b[0] + context)],
});
const keepEnd = ({ change, a, b }: Step): Step => ({
  change,
  a: [Math.max(a[0], a[1] - context), a[1]],
  b: [Math.max(b[0], b[1] - context), b[1]],
});

function stepsOf(a: readonly string[], b: readonly string[]): Step[] {
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  for (const match of [...matchesOf(a, b), { a: a.length, b: b.length, size: 0 }]) {
    const change = changeOf(i < match.a, j < match.b);
    if (change) steps.push({ change, a: [i, match.a], b: [j, match.b] });
    [i, j] = [match.a + match.size, match.b + match.size];
    if (match.size > 0) steps.push({ change: 'equal', a: [match.a, i], b: [match.b, j] });
  }
  return steps;
}

const changeOf = (hasOld: boolean, hasNew: boolean): Change | undefined => {
  if (hasOld) return hasNew ? 'replace' : 'delete';
  return hasNew ? 'insert' : undefined;
};

/** Common blocks in order, neighbours joined. */
function matchesOf(a: readonly string[], b: readonly string[]): Match[] {
  const places = placesOf(b);
  const found: Match[] = [];
  const queue: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  while (queue.length > 0) {
    const [fromA, toA, fromB, toB] = queue.pop()!;
    const match = longestMatch(a, b, places, [fromA, toA, fromB, toB]);
    if (match.size === 0) continue;
    found.push(match);
    queue.push([fromA, match.a, fromB, match.b], [match.a + match.size, toA, match.b + match.size, toB]);
  }
  found.sort((one, other) => one.a - other.a || one.b - other.b);
  return joined(found);
}

function joined(matches: readonly Match[]): Match[] {
  const result: Match[] = [];
  for (const match of matches) {
    const last = result.at(-1);
    if (last && last.a + last.size === match.a && last.b + last.size === match.b) {
      result[result.length - 1] = { ...last, size: last.size + match.size };
    } else {
      result.push(match);
    }
  }
  return result;
}

/** Lines that fill more than one percent of a long text are too common to start a block. */
function placesOf(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, line] of b.entries()) {
    const list = places.get(line);
    if (list) list.push(at);
    else places.set(line, [at]);
  }
  if (b.length < 200) return places;
  const most = Math.floor(b.length / 100) + 1;
  for (const [line, list] of places) if (list.length > most || b.length > linesMax) places.delete(line);
  return places;
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  [fromA, toA, fromB, toB]: readonly [number, number, number, number],
): Match {
  let best: Match = { a: fromA, b: fromB, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = fromA; i < toA; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i]!) ?? []) {
      if (j < fromB) continue;
      if (j >= toB) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  let { a: startA, b: startB } = best;
  let endA = startA + best.size;
  let endB = startB + best.size;
  while (startA > fromA && startB > fromB && a[startA - 1] === b[startB - 1])
    [startA, startB] = [startA - 1, startB - 1];
  while (endA < toA && endB < toB && a[endA] === b[endB]) [endA, endB] = [endA + 1, endB + 1];
  return { a: startA, b: startB, size: endA - startA };
}

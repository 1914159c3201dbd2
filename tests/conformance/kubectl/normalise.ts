/**
 * Normalises values that may differ between two servers with the same behaviour: identities, revisions, times, addresses and random
 * suffixes. Any other difference is reported.
 */

export interface Surroundings {
  /** The server's address as kubectl prints it. */
  readonly url: string;
  /** The case's own folder. */
  readonly folder: string;
}

/** Applied in order. */
const replacements: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // A uid is random.
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>'],
  // A revision counts every write of a server, and their other writes differ.
  [/(resourceVersion(?:\\?")?: ?\\?")\d+/g, '$1<revision>'],
  [/(resourceVersion=)\d+/g, '$1<revision>'],
  [/(Resource Version: +)\d+/g, '$1<revision>'],
  // Times: RFC 3339 with and without fractions (which must not be mixed up), and those of describe.
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d)/g, '<time with fractions>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<date>'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( UTC)?/g, '<date>'],
  // Prefix of kubectl's own log lines: time, process and place.
  [/^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, '$1 <logged> '],
  // kubectl logs watches that it stopped itself (by its timeout, or after the expected event) when the reader of the stream notices before
  // its owner: this depends on the machine's load.
  [/^[IWE] <logged> reflector\.go.*(very short watch|context deadline exceeded|context canceled).*\n/gm, ''],
  // Scratch files of diff and edit.
  [/\/(LIVE|MERGED)-\d+\//g, '/$1/'],
  [/kubectl-edit-\d+\.yaml/g, 'kubectl-edit-<random>.yaml'],
  // The management plane has one additional kind, which occurs in lists of all kinds; tenants have none.
  [/^.*\btenancy\.hangar\.dev\b.*\n/gm, ''],
  // Every three minutes, kube-apiserver reports addresses and ports that it allocated in this moment as not allocated.
  [/^Events:\n +Type .*\n +-+ .*\n(?: +Warning +(?:ClusterIP|Port)NotAllocated .*\n)+/gm, 'Events:  <none>\n'],
  // Cases use `gen-` as generateName, so that a generated suffix can be recognised.
  [/\bgen-[a-z0-9]{5}\b/g, 'gen-<random>'],
];

/** Values of varying width in tables: a column is as wide as its widest cell, so the padding beside them varies too. */
const cells: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Ages: whole cells, or `3s ago`, or `2s (x3 over 5s)`.
  [/(?<=[\s(])\d+[smh](\d+s)?(?=[\s)]|$)/gm, '<age>'],
  // Cluster addresses are allocated at random from each server's own range.
  [/\b10\.\d+\.\d+\.\d+\b/g, '<cluster address>'],
  // Node ports are allocated at random.
  [/\b3[0-2]\d{3}(?=\/TCP|\/UDP|\b)/g, '<node port>'],
];

/**
 * The order of a JSON object's members is irrelevant, and servers may store objects in any encoding. It is visible only in raw bodies:
 * kubectl sorts everything else.
 */
function orderMembers(text: string): string {
  if (!/^[{[]/m.test(text)) return text;
  const whole = ordered(text, /\n( +)/.exec(text)?.[1]?.length);
  if (whole !== undefined) return `${whole}${text.endsWith('\n') ? '\n' : ''}`;
  return text
    .split('\n')
    .map((line) => (line.startsWith('{') ? (ordered(line) ?? line) : line))
    .join('\n');
}

function ordered(text: string, indentation?: number): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text, sortMembers), undefined, indentation);
  } catch {
    return undefined;
  }
}

function sortMembers(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  return key === 'managedFields' ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : value;
}

/**
 * The entries of managedFields are sorted by time, in whole seconds, then by manager: their order depends on how many
 * seconds passed between two steps.
 */
function orderManagers(text: string): string {
  return text.replace(/^( *)managedFields:\n((?:\1(?:-| ) .*\n)+)/gm, (_all, indentation: string, block: string) => {
    const entries = block.split(new RegExp(`^(?=${indentation}- )`, 'm'));
    return `${indentation}managedFields:\n${entries.sort().join('')}`;
  });
}

export function normalise(output: string, { url, folder }: Surroundings): string {
  const { port } = new URL(url);
  let text = orderMembers(output)
    .replaceAll(url, '<server>')
    // It also prints the address for other machines.
    .replace(new RegExp(`\\b\\d+\\.\\d+\\.\\d+\\.\\d+:${port}\\b`, 'g'), '<server>')
    .replace(new RegExp(`\\b${port}\\b`, 'g'), '<port>')
    .replaceAll(folder, '<folder>');
  for (const [pattern, replacement] of replacements) text = text.replace(pattern, replacement);
  text = orderManagers(text);
  let withoutCells = text;
  for (const [pattern, replacement] of cells) withoutCells = withoutCells.replace(pattern, replacement);
  // kubectl puts three spaces or more between columns, describe and events two.
  return withoutCells === text ? text : withoutCells.replace(/(?<=\S) {2,}/g, '  ');
}

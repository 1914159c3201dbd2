/** What `--help` prints: groups of options, each with what it means, in columns that fit a terminal. */

/** The option as it is typed, and what it means. */
export type HelpRow = readonly [option: string, meaning: string];

export interface HelpGroup {
  readonly title: string;
  readonly rows: readonly HelpRow[];
}

const columnsMax = 100;
/** Where meanings begin; an option that reaches it has a line of its own. */
const meaningColumn = 32;

export function helpText(head: string, groups: readonly HelpGroup[]): string {
  return [head, ...groups.map(({ title, rows }) => `${title}:\n${rows.map(rowText).join('\n')}`)].join('\n\n');
}

function rowText([option, meaning]: HelpRow): string {
  const indent = ' '.repeat(meaningColumn);
  const name = `  ${option}`;
  const lines = wrapped(meaning, columnsMax - meaningColumn);
  const isShort = name.length + 2 <= meaningColumn;
  const [first = '', ...rest] = lines;
  return (
    isShort
      ? [name.padEnd(meaningColumn) + first, ...rest.map((line) => indent + line)]
      : [name, ...lines.map((line) => indent + line)]
  ).join('\n');
}

/** Lines of whole words; what is longer than a line stays whole. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** The text of `--help`: groups of options with their meanings, in columns that fit a terminal. */

/** The option as it is typed, and its meaning. */
export type HelpRow = readonly [option: string, meaning: string];

export interface HelpGroup {
  readonly title: string;
  readonly rows: readonly HelpRow[];
}

const columnsMax = 100;
/** Column where meanings begin; a longer option has a separate line. */
const meaningColumn = 32;

export function helpText(head: string, groups: readonly HelpGroup[]): string {
  return [head, ...groups.map(({ title, rows }) => `${title}:\n${rows.map(rowText).join('\n')}`)].join('\n\n');
}

function rowText([option, meaning]: HelpRow): string {
  const indent = ' '.repeat(meaningColumn);
  const lines = wrapped(meaning, columnsMax - meaningColumn).map((line) => indent + line);
  const name = `  ${option}`;
  if (name.length + 2 > meaningColumn) return [name, ...lines].join('\n');
  return name.padEnd(meaningColumn) + lines.join('\n').slice(meaningColumn);
}

/** Wraps whole words; text in parentheses starts a new line rather than being split. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const [word] of text.matchAll(/\([^)]*\)\S*|\S+/g)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

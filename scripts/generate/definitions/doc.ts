/**
 * Parses a doc comment: the description, then tags.
 *
 *     A sentence, perhaps
 *     over several lines.                      → "A sentence, perhaps over several lines."
 *
 *     @maxLength 63                            → maxLength: "63"
 *     @rule "self != 'root'"
 *       message "root is the management plane" → rule: "\"self != 'root'\" message \"root is …\""
 */

export interface Tag {
  readonly name: string;
  readonly text: string;
}

export interface Doc {
  /** Lines of a paragraph are joined. */
  readonly description: string;
  readonly tags: readonly Tag[];
}

export const noDoc: Doc = { description: '', tags: [] };

export function docOf(text: string): Doc {
  const prose: string[] = [];
  const tags: { name: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const [, name, rest] = /^@([\w.]+)\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) tags.push({ name, lines: [rest!] });
    else (tags.at(-1)?.lines ?? prose).push(line);
  }
  const description = prose
    .join('\n')
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => joined(paragraph.split('\n')))
    .join('\n\n');
  return { description, tags: tags.map(({ name, lines }) => ({ name, text: joined(lines) })) };
}

const joined = (lines: readonly string[]): string =>
  lines
    .map((line) => line.trim())
    .join(' ')
    .trim();

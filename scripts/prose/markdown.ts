/** Reads the prose of a Markdown file: paragraphs, list items, table cells and headings, without code blocks, code spans and HTML tags. */

import { mask, maskCode } from './segment.ts';
import type { Segment } from './segment.ts';

/** Names of tests behind the file that has them: `x.test.ts`: "first name", "second name". */
const citedTests = /`[^`\n]+\.ts`:\s*"[^"\n]*"(?:,\s*"[^"\n]*")*/g;

export function paragraphsOf(source: string): Segment[] {
  const text = maskCode(
    source
      .replaceAll(citedTests, (cited) => mask(cited, 'x'))
      .replaceAll(/^[ \t]*(```+|~~~+)[^]*?^[ \t]*\1[ \t]*$/gm, (block) => mask(block, ' '))
      .replaceAll(/<!--[^]*?-->/g, (comment) => mask(comment, ' '))
      .replaceAll(/<\/?[a-z][^>]*>/g, (tag) => mask(tag, ' ')),
  );
  const found: Segment[] = [];
  let paragraph: { start: number; text: string } | undefined;
  const close = (): void => {
    if (paragraph?.text.trim()) found.push({ kind: 'paragraph', ...paragraph });
    paragraph = undefined;
  };
  let start = 0;
  for (const line of text.split('\n')) {
    const lineStart = start;
    start += line.length + 1;
    if (line.trim() === '') close();
    else if (/^#{1,6}\s/.test(line)) {
      close();
      found.push({ kind: 'heading', start: lineStart, text: line.replace(/^#+/, (marker) => mask(marker, ' ')) });
    } else if (/^\s*\|/.test(line)) {
      close();
      found.push(...cellsOf(line, lineStart));
    } else {
      const item = /^\s*(?:[-*+]|\d+[.)]|>)\s+/.exec(line);
      if (item) close();
      const bare = item ? mask(item[0], ' ') + line.slice(item[0].length) : line;
      paragraph = paragraph ? { ...paragraph, text: `${paragraph.text}\n${bare}` } : { start: lineStart, text: bare };
    }
  }
  close();
  return found;
}

function cellsOf(line: string, lineStart: number): Segment[] {
  let start = lineStart;
  return line.split(/(?<!\\)\|/).flatMap((cell) => {
    const cellStart = start;
    start += cell.length + 1;
    return /[a-z]/i.test(cell) ? [{ kind: 'paragraph' as const, start: cellStart, text: cell }] : [];
  });
}

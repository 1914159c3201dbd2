/** Reads the code blocks of a Markdown document, in order. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Block {
  /** `sh`, `ts`, `yaml`; '' is the output of a program. */
  readonly language: string;
  /** The text behind the language: the file name. */
  readonly about: string;
  readonly text: string;
  /** Line of the fence, from 1. */
  readonly line: number;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, language, about = ''] = /^```(\w*) ?(.*)$/.exec(lines[at]!) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end === -1) throw new Error(`line ${at + 1}: the block has no end`);
    const text = lines.slice(at + 1, end).join('\n');
    blocks.push({ language, about, text: `${text}\n`, line: at + 1 });
    at = end;
  }
  return blocks;
}

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const readDocument = (path: string): Block[] => blocksOf(readFileSync(root + path, 'utf8'));

/** Replaces parts that differ in every run: ages, times, addresses, random parts of names. Column widths depend on them. */
export const normalised = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\b10\.0\.0\.\d+\b/g, '<ip>')
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, '<port>')
    .replaceAll(/(?<=\s)\d+m?s(?=\s|$)/g, '<age>')
    .replaceAll(/(?<=result="success"\} )\d+/g, '<count>')
    .replaceAll(/\(\d+\.\d+ms\)|(?<=duration_ms )\d+\.\d+/g, '<duration>')
    .replaceAll(/ +(?=\n|$)/g, '')
    .replaceAll(/ +/g, ' ')
    .trim();

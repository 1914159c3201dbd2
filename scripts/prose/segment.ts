/**
 * A segment is one stretch of prose: a message, a comment, a paragraph. Its text has the length of the source that it was read from, with
 * everything that is not prose (quotes, code spans, comment markers, template substitutions) replaced by blanks or by `x`, so that an offset
 * in the text is an offset in the source:
 *
 *     source  `cluster path "${path}" is ${owner}'s`
 *     text     cluster path "xxxxxxx" is xxxxxxxx's
 */

export interface Segment {
  readonly kind: 'string' | 'comment' | 'paragraph' | 'heading';
  /** Offset of the first character in the file. */
  readonly start: number;
  readonly text: string;
}

/** Replaces every character except line breaks, so that offsets and lines stay. */
export function mask(text: string, by: string): string {
  return text.replaceAll(/[^\n]/g, by);
}

/** Masks code spans in backticks, targets and titles of links, and URLs. */
export function maskCode(text: string): string {
  return text
    .replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, (code) => mask(code, 'x'))
    .replaceAll(/\]\([^)\s]*(?:\s+"[^"]*")?\)/g, (target) => mask(target, ' '))
    .replaceAll(/https?:\/\/\S+/g, (url) => mask(url, 'x'));
}

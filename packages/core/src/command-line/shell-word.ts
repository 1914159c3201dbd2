/** Returns the text as one word of a POSIX shell, quoted only where a shell would split or expand it. */
export const shellWord = (text: string): string =>
  /^[\w./:@+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

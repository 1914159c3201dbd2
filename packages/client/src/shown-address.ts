/** Formats an address for messages: omits user info and query, even of malformed addresses. */
export function shownAddress(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(text)!;
  const host = rest.includes('@') ? `…${rest.slice(rest.lastIndexOf('@'))}` : rest;
  const shown = scheme + host.replace(/[?#].*$/s, (more) => `${more[0]}…`);
  return JSON.stringify(shown.length > 200 ? `${shown.slice(0, 200)}…` : shown);
}

/**
 * Paths that every proxy and server interprets in the same way: without `..`, without ambiguous escapes, without characters that end a
 * path.
 */

/** Returns whether the path has only characters that RFC 3986 allows unescaped in a segment, and no segment `.` or `..`. */
export const isPlainPath = (path: string): boolean =>
  /^(\/[-A-Za-z0-9._~!$&'()*+,;=:@]*)+$/.test(path) && !/\/\.\.?(\/|$)/.test(path);

/**
 * Returns whether a path with an optional query is plain. Escaped characters are allowed, except escaped slashes, backslashes, dots and
 * percent signs: a proxy that decodes them could forward the credentials to another path.
 */
export const isPlainTarget = (target: string): boolean =>
  isPlainPath(target.split('?', 1)[0]!.replaceAll(/%(?!2[ef]|5c|25)[0-9a-f]{2}/gi, '_'));

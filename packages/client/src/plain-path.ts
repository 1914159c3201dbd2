/** Paths that mean the same to everybody they pass: nothing in them goes upwards, is escaped, or is taken for the end of a path. */

/** Letters, digits and what else RFC 3986 lets stand in a segment as it is; no segment is `.` or `..`. */
export const isPlainPath = (path: string): boolean =>
  /^(\/[-A-Za-z0-9._~!$&'()*+,;=:@]*)+$/.test(path) && !/\/\.\.?(\/|$)/.test(path);

/**
 * Of a path with its query. Names may have escaped characters in them: those of slashes are none of these, nor are dots or percent
 * signs that were escaped. A proxy that reads them would be led elsewhere, with credentials that are for here.
 */
export const isPlainTarget = (target: string): boolean =>
  isPlainPath(target.split('?', 1)[0]!.replaceAll(/%(?!2[ef]|5c|25)[0-9a-f]{2}/gi, '_'));

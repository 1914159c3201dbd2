/** Paths that mean the same to everybody they pass: nothing in them goes upwards, is escaped, or is taken for the end of a path. */

/** Letters, digits and what else RFC 3986 lets stand in a segment as it is; no segment is `.` or `..`. */
export const isPlainPath = (path: string): boolean =>
  /^(\/[-A-Za-z0-9._~!$&'()*+,;=:@]*)+$/.test(path) && !/\/\.\.?(\/|$)/.test(path);

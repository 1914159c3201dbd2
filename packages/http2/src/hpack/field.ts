/** One decoded header. Its checks are made on creation: most headers are in a table by then and repeat with every request. */

/** Role of a header in a request. */
export const role = {
  /** Not allowed in any request. */
  bad: 0,
  ordinary: 1,
  method: 2,
  scheme: 3,
  path: 4,
  authority: 5,
  host: 6,
  contentLength: 7,
} as const;

export type Role = (typeof role)[keyof typeof role];

const roles = new Map<string, Role>([
  [':method', role.method],
  [':scheme', role.scheme],
  [':path', role.path],
  [':authority', role.authority],
  ['host', role.host],
  ['content-length', role.contentLength],
  // They concern a connection of HTTP/1.1 (RFC 9113, 8.2.2).
  ['connection', role.bad],
  ['proxy-connection', role.bad],
  ['keep-alive', role.bad],
  ['transfer-encoding', role.bad],
  ['upgrade', role.bad],
]);

const goodName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// eslint-disable-next-line no-control-regex
const badValue = /[\0-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$/;

export class Field {
  readonly name: string;
  readonly value: string;
  readonly role: Role;

  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
    this.role = roleOf(name, value);
  }

  /** Counted as in RFC 7541. */
  get size(): number {
    return this.name.length + this.value.length + 32;
  }
}

function roleOf(name: string, value: string): Role {
  if (badValue.test(value)) return role.bad;
  if (name === 'te' && value !== 'trailers') return role.bad;
  const known = roles.get(name);
  if (known !== undefined) return known;
  return goodName.test(name) ? role.ordinary : role.bad;
}

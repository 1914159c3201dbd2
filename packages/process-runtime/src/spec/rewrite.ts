/**
 * Replaces paths and addresses in arguments and environment variables. A process shares the network of the machine, and without a mount
 * namespace also its file system; a container expects its own.
 */

/** A folder or file of the machine that a container expects at another path. */
export interface PathMapping {
  /** Absolute path in the container. */
  readonly from: string;
  readonly to: string;
}

/** Characters of paths. A path ends at any other character, for example in `a=/etc/pki/ca.crt,b`. */
const pathCharacter = '[A-Za-z0-9._~@%+-]';

/**
 * Returns a function that replaces each path below a mapped path. The longest mapped path wins.
 *
 *     rewritePaths([{ from: '/etc/pki', to: '/pods/1/pki' }])('--ca=/etc/pki/ca.crt')  →  '--ca=/pods/1/pki/ca.crt'
 */
export function rewritePaths(mappings: readonly PathMapping[]): (text: string) => string {
  const byFrom = new Map(mappings.map(({ from, to }) => [trimmed(from), to]));
  byFrom.delete('');
  if (byFrom.size === 0) return (text) => text;
  const longestFirst = [...byFrom.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`(?<!${pathCharacter}|/)(?:${longestFirst.join('|')})(?!${pathCharacter})`, 'g');
  return (text) => text.replaceAll(pattern, (found) => byFrom.get(found)!);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);

const trimmed = (path: string): string => path.replace(/\/+$/, '');

/**
 * Replaces the addresses that mean the pod itself: all pods share the loopback interface of the machine, so a program that listens on
 * 0.0.0.0 or 127.0.0.1 would take the port of all pods. Networks such as 0.0.0.0/0 stay.
 *
 *     rewriteAddresses('127.64.0.2')('--listen=https://0.0.0.0:2379')  →  '--listen=https://127.64.0.2:2379'
 */
export const rewriteAddresses =
  (podIP: string) =>
  (text: string): string =>
    text.replaceAll(
      /(?<![\w.-])(?:0\.0\.0\.0|127\.0\.0\.1|\[::\]|\[::1\]|localhost)(?![\w.-]|\/\d)/g,
      (found, at: number) =>
        // `localhost` is also a plain word: it is an address only in front of a port or behind a scheme.
        found === 'localhost' && !text.slice(0, at).endsWith('://') && text[at + found.length] !== ':' ? found : podIP,
    );

/**
 * Replaces names of Services and pods, for programs that resolve them by the DNS of the machine. Only names with `.svc` are replaced.
 * A certificate of the peer must then be valid for the address.
 */
export function rewriteNames(addressOf: (name: string) => string | undefined): (text: string) => string {
  const name = /(?<![\w.-])(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\.){2,3}svc(?:\.cluster\.local)?\.?(?![\w.-])/g;
  return (text) => text.replaceAll(name, (found) => addressOf(found.replace(/\.$/, '')) ?? found);
}

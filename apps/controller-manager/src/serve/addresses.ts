/** Computes the URL of a server from its listen address. */

const anyAddresses = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export const isAnyAddress = (address: string): boolean => anyAddresses.has(address);

/** Reports whether only programs of this machine can connect. */
export const isLoopback = (address: string): boolean => /^127\.|^::1$|^::ffff:127\./i.test(address);

/** For a client on this machine. */
export function urlOf(address: string, port: number): string {
  const host = anyAddresses.get(address) ?? address;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

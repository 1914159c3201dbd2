/** Where a server is reached that listens there. */

const anyAddresses = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export const isAnyAddress = (address: string): boolean => anyAddresses.has(address);

/** By a client on this machine. */
export function urlOf(address: string, port: number): string {
  const host = anyAddresses.get(address) ?? address;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

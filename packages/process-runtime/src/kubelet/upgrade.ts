/** Switches a request of the API server to SPDY/3.1. */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Returns the protocols that the client offers, in order. */
function offered({ headers }: IncomingMessage): string[] {
  const value = headers['x-stream-protocol-version'];
  return (Array.isArray(value) ? value : [value ?? ''])
    .flatMap((one) => one.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** Answers 101 and returns the chosen protocol. Undefined: the request is rejected, and the connection is closed. */
export function switchToSpdy(
  request: IncomingMessage,
  socket: Duplex,
  protocols: readonly string[],
): string | undefined {
  if (!/spdy\/3\.1/i.test(request.headers.upgrade ?? '')) {
    refuse(socket, 400, 'unable to upgrade: the process runtime supports SPDY/3.1');
    return undefined;
  }
  const versions = offered(request);
  const protocol = versions.length === 0 ? protocols.at(-1)! : protocols.find((one) => versions.includes(one));
  if (protocol === undefined) {
    refuse(socket, 403, `unable to upgrade: unable to negotiate protocol: client supports ${versions.join(' ')}`);
    return undefined;
  }
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return protocol;
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
};

export function refuse(socket: Duplex, status: number, text: string): void {
  const length = Buffer.byteLength(text);
  const head = [
    `HTTP/1.1 ${status} ${phrases[status] ?? ''}`,
    'Content-Type: text/plain',
    `Content-Length: ${length}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

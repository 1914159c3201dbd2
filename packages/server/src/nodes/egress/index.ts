/**
 * egress: connections into cluster networks through a konnectivity-server, as kube-apiserver opens them with `--egress-selector-config-file`.
 */

import { readFile } from 'node:fs/promises';
import type { Clock } from '@hangar/core';
import type { TlsIdentity } from '../../outbound/index.ts';
import type { NodeDialer } from '../dialer.ts';
import { parseEgressConfiguration } from './configuration.ts';
import type { TlsFiles } from './configuration.ts';
import { GrpcProxyDialer } from './grpc-proxy.ts';
import { HttpConnectDialer } from './http-connect.ts';

/** Returns undefined if the configuration selects direct connections. Rejects with an Error that names the file and the field. */
export async function readEgress(file: string, clock: Clock): Promise<NodeDialer | undefined> {
  try {
    return await dialerOf(await readFile(file), clock);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

async function dialerOf(text: Uint8Array, clock: Clock): Promise<NodeDialer | undefined> {
  const connection = parseEgressConfiguration(text);
  if (connection.protocol === 'Direct') return undefined;
  if ('socket' in connection) {
    const { socket } = connection;
    return connection.protocol === 'GRPC'
      ? new GrpcProxyDialer({ socket, clock })
      : new HttpConnectDialer({ proxy: { socket }, clock });
  }
  const { hostname, port, protocol } = new URL(connection.url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const tls = connection.tls && (await tlsOf(connection.tls));
  return new HttpConnectDialer({
    proxy: { host, port: Number(port) || (protocol === 'https:' ? 443 : 80), tls },
    clock,
  });
}

async function tlsOf({ caBundle, clientCert, clientKey, tlsServerName }: TlsFiles): Promise<TlsIdentity> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8');
  return {
    ca: caBundle === undefined ? undefined : await read(caBundle),
    clientCertificate: { certificate: await read(clientCert), key: await read(clientKey) },
    serverName: tlsServerName,
  };
}

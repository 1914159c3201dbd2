/**
 * Connections into the network of a cluster that this server cannot reach directly: through the agents of a tenant, or through a proxy that
 * the administrator configured.
 */

import { Agent } from 'node:https';
import type { AgentOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { asError } from '@hangar/core';

export interface DialTarget {
  /** An IP address, or a name that the other network resolves; without brackets. */
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ClusterDialer {
  /** Rejects with an OutboundError. The caller adds TLS. */
  dial(target: DialTarget): Promise<Duplex>;
}

/** Starts TLS on a connection of the cluster network. */
export function secured(raw: Duplex, options: ConnectionOptions): TLSSocket {
  const socket = connectTls({ ...options, socket: raw as Socket });
  // Otherwise, a stream that is not a socket would close when its last byte is decrypted. Node.js then drops decrypted bytes that are not
  // read yet. It is set after `connect`, which would set it on `socket` too.
  raw.allowHalfOpen = true;
  socket.once('close', () => raw.destroy());
  return socket;
}

type Done = (error: Error | null, socket?: Duplex) => void;

/** Returns an agent whose connections are opened by the dialer. */
export function clusterAgent(dialer: () => ClusterDialer | undefined, options: AgentOptions): Agent {
  const agent = new Agent(options);
  const connect = async (connection: ConnectionOptions & { host: string; port: number }, done: Done): Promise<void> => {
    try {
      const { host, port } = connection;
      const raw = await dialer()!.dial({ host, port: Number(port) });
      done(null, secured(raw, connection));
    } catch (error) {
      done(asError(error));
    }
  };
  agent.createConnection = ((connection: never, done: Done) => void connect(connection, done)) as never;
  return agent;
}

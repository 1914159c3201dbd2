/** A tunnel behind a real port, and a server to dial. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import type { User } from '../../../auth/user.ts';
import { serving, TestPort, world } from '../../../http/testing/test-port.ts';
import { agentAudience } from '../agent-user.ts';
import type { TunnelLimits } from '../limits.ts';
import { Tunnel } from '../tunnel.ts';
import { TestAgent } from './test-agent.ts';
import type { TestAgentOptions } from './test-agent.ts';

const userOf = (name: string): User => ({ name, uid: '', groups: [], extra: {} });
const users: Readonly<Record<string, string>> = {
  agent: 'system:serviceaccount:kube-system:konnectivity-agent',
  other: 'system:serviceaccount:default:default',
};

export interface TunnelPortOptions {
  readonly limits?: Partial<TunnelLimits>;
  readonly clock?: Clock;
  /** The address to listen on. */
  readonly host?: string;
  /** Absent: any free port. */
  readonly port?: number;
  readonly serverId?: string;
}

export class TunnelPort implements AsyncDisposable {
  readonly tunnel: Tunnel;
  readonly violations: string[] = [];
  readonly #port: TestPort;
  readonly #host: string;

  private constructor(tunnel: Tunnel, { port, host }: { port: TestPort; host: string }, violations: string[]) {
    this.tunnel = tunnel;
    this.#port = port;
    this.#host = host;
    this.violations = violations;
  }

  get port(): number {
    return this.#port.listener.port;
  }

  static async open(options: TunnelPortOptions = {}): Promise<TunnelPort> {
    const { limits = {}, clock = systemClock, host = '127.0.0.1', serverId = 'server-1' } = options;
    const violations: string[] = [];
    const guard = {
      identifyToken: (token: string, audiences: readonly string[]) =>
        Promise.resolve(
          audiences.includes(agentAudience) && users[token] !== undefined
            ? { user: userOf(users[token]), audiences }
            : undefined,
        ),
      identifyConnection: () => undefined,
    };
    const tunnel = new Tunnel({
      plane: 'shop',
      serverId,
      guard: () => guard,
      clock,
      limits,
      onViolation: (message) => violations.push(message),
    });
    const { key, certificate } = issueCertificate(
      serving,
      { commonName: 'port', usage: 'server', hosts: ['localhost', '127.0.0.1', host], days: 5 },
      world,
    );
    const port = await TestPort.open((request) => tunnel.connect(request), {
      clientCas: '',
      closeGraceMs: 0,
      host,
      port: options.port ?? 0,
      key,
      certificate,
    });
    return new TunnelPort(tunnel, { port, host }, violations);
  }

  agent(options: Omit<TestAgentOptions, 'host' | 'port'> = {}): Promise<TestAgent> {
    return TestAgent.open({ ...options, host: this.#host, port: this.port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.tunnel.close();
    await this.#port[Symbol.asyncDispose]();
  }
}

/** Listens on loopback; `serve` handles each connection. */
export async function startTarget(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    target: { host: '127.0.0.1', port },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

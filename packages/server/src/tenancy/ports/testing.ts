/** Test helpers: a server with tenants whose ports are open. */

import { createServer } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { request as httpsRequest } from 'node:https';
import { advertisedTenantAuthority } from '../keys/advertised-authority.ts';
import { listen } from '../../http/listener.ts';
import type { Listener } from '../../http/listener.ts';
import { serving, world } from '../../http/testing/test-port.ts';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';
import type { TenancyServerOptions } from '../../testing/tenancy-server.ts';
import { PlanePorts } from './plane-ports.ts';
import type { PortRange } from './port-allocator.ts';

export const host = '127.0.0.1';

/** A hundred ports that other programs hardly use. Those in use are skipped. */
export const testPorts = (first = 20_000 + 100 * Math.floor(Math.random() * 90)): PortRange => ({
  first,
  last: first + 99,
  isFree: (port) =>
    new Promise((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen({ host, port }, () => probe.close(() => resolve(true)));
    }),
  url: (port) => `https://${host}:${port}`,
  serviceCidr: '10.0.0.0/24',
});

const users = createAuthority('users', 10, world);

export interface PortedTenant {
  readonly port: number;
  /** CA of the port; PEM. */
  readonly ca: string;
  /** Client certificate of an administrator. */
  readonly admin: { readonly cert: string; readonly key: string };
}

export interface Received {
  readonly status: number;
  readonly text: string;
}

/** A server with a listener and ports. */
export class PortedServer implements AsyncDisposable {
  readonly server: TenancyServer;
  readonly listener: Listener;
  readonly ports: PlanePorts;
  readonly problems: Error[];

  private constructor(parts: Pick<PortedServer, 'server' | 'listener' | 'ports' | 'problems'>) {
    this.server = parts.server;
    this.listener = parts.listener;
    this.ports = parts.ports;
    this.problems = parts.problems;
  }

  static async open(range: PortRange = testPorts(), options: TenancyServerOptions = {}): Promise<PortedServer> {
    const tenancy = { strangersPaceMs: 0, ...options.tenancy, ports: range };
    const server = await TenancyServer.open({ ...options, tenancy });
    const hosts = ['localhost', host];
    const pair = issueCertificate(serving, { commonName: 'server', usage: 'server', hosts, days: 5 }, world);
    const listener = await listen({
      host,
      port: 0,
      key: pair.key,
      certificate: pair.certificate,
      clientCas: users.certificate,
      advertisedCas: advertisedTenantAuthority,
      clock: world.clock,
      handler: server.handler,
      closeGraceMs: 0,
    });
    const problems: Error[] = [];
    const ports = new PlanePorts({
      ...world,
      tenants: server.tenancy.tenants,
      ports: range,
      listener,
      store: server.store,
      storePrefix: '/registry',
      hosts: () => [host, '10.0.0.1'],
      onError: (error) => void problems.push(error),
    });
    await ports.settled();
    return new PortedServer({ server, listener, ports, problems });
  }

  /** Creates a tenant with nodes. Resolves when its port is open. */
  async make(name: string, spec: object = {}): Promise<PortedTenant> {
    await this.server.make(name, { nodes: { enabled: true }, ...spec });
    return this.of(name);
  }

  async of(name: string): Promise<PortedTenant> {
    await this.ports.settled();
    const { status } = await this.server.expect(200, 'GET', `${tenants}/${name}`);
    const { port, caBundle } = status.nodes;
    const issued = await this.server.expect(201, 'POST', `${tenants}/${name}/kubeconfig`, { body: {} });
    const part = (field: string): string => {
      const [, encoded] = new RegExp(`${field}: (\\S+)`).exec(issued.status.kubeconfig)!;
      return Buffer.from(encoded!, 'base64').toString();
    };
    const admin = { cert: part('client-certificate-data'), key: part('client-key-data') };
    return { port, ca: Buffer.from(caBundle, 'base64').toString(), admin };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ports.close();
    await this.listener.close();
    await this.server[Symbol.asyncDispose]();
  }
}

export interface Asked extends ConnectionOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a request over HTTP/1.1 as client-go in a pod does: to an address, without a path and without a server name. */
export function ask(
  { port, ca }: Pick<PortedTenant, 'port' | 'ca'>,
  path: string,
  asked: Asked = {},
): Promise<Received> {
  const { body, headers, ...options } = asked;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        host,
        port,
        path,
        ca,
        agent: false,
        // Otherwise Node derives a server name from the Host header.
        servername: '',
        ...options,
        headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** Checks which process listens on the port of the server, and whether its certificate is the one that the kubeconfig trusts. */

import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { asError, hasCode } from '@hangar/core';
import { bad, doubtful, good } from '../finding.ts';
import type { Check, DoctorWorld, Finding } from '../finding.ts';
import { lifeOf } from '../life.ts';
import { listeningProcess } from '@hangar/core/command-line';
import { hangar } from '../../hints.ts';
import { shortened } from '../../terminal/plain-text.ts';

const defaultServer = 'https://127.0.0.1:6443';
const timeoutMs = 5_000;

export const port: Check = {
  name: 'port',
  async look(world) {
    const { hostname, port: given } = new URL(world.config?.server ?? defaultServer);
    const asked = world.given.text('port');
    return [
      ...(asked === undefined ? [] : [await ownerOf(Number(asked))]),
      ...(await serverPort(world, { hostname, given })),
    ];
  },
};

/** Reports the process that listens on a port of this machine. */
async function ownerOf(number: number): Promise<Finding> {
  const name = `127.0.0.1:${number}`;
  try {
    await opened(connect({ host: '127.0.0.1', port: number, timeout: timeoutMs }), 'connect');
  } catch (error) {
    if (hasCode(error, 'ECONNREFUSED')) return good(`port ${number} is free`);
    return bad(`${name} cannot be reached: ${asError(error).message}`);
  }
  return doubtful(
    `port ${number} is used by ${await processOn(number)}`,
    `to use another port: ${hangar('up --port N')}`,
  );
}

const loopback = /^(127\.|::1$|localhost$)/;

/** Returns the process with its pid, for messages. */
async function processOn(number: number, host = '127.0.0.1'): Promise<string> {
  if (!loopback.test(host)) return 'another server';
  const found = await listeningProcess(number);
  if (!found) return 'a process that this user cannot see';
  const { pid, command, isHangar } = found;
  return `${isHangar ? 'Hangar, ' : ''}process ${pid} (${shortened(command, 100)})`;
}

async function serverPort(
  world: DoctorWorld,
  { hostname, given }: { readonly hostname: string; readonly given: string },
): Promise<readonly Finding[]> {
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(given || 443) };
  const name = `${hostname}:${place.port}`;
  try {
    await opened(connect({ ...place, timeout: timeoutMs }), 'connect');
  } catch (error) {
    if (hasCode(error, 'ECONNREFUSED'))
      return [bad(`nothing listens at ${name}: Hangar is not running`, `start it with: ${hangar('up')}`)];
    return [
      bad(
        `${name} cannot be reached: ${asError(error).message}`,
        'check the address in the kubeconfig and the network',
      ),
    ];
  }
  if (!world.config) {
    const next = `if it is not Hangar, choose another port: ${hangar('up --port N')}`;
    return [doubtful(`${name} is used by ${await processOn(place.port, place.host)}`, next)];
  }
  return shown(world, place, name);
}

async function shown(world: DoctorWorld, place: { host: string; port: number }, name: string): Promise<Finding[]> {
  const { ca, serverName } = world.config!;
  let socket: TLSSocket;
  try {
    // A certificate problem is reported as a finding, not thrown.
    socket = connectTls({
      ...place,
      ...(ca === undefined ? {} : { ca }),
      ...(serverName === undefined ? {} : { servername: serverName }),
      rejectUnauthorized: false,
      timeout: timeoutMs,
    });
    await opened(socket, 'secureConnect');
  } catch (error) {
    const why = asError(error).message;
    const what = `${name} is used by ${await processOn(place.port, place.host)}, which does not speak TLS: ${why}`;
    return [bad(what, `stop it, or choose another port: ${hangar('up --port N')}`)];
  }
  const { authorized, authorizationError } = socket;
  const certificate = socket.getPeerCertificate() as DetailedPeerCertificate | Record<string, never>;
  socket.destroy();
  if (!authorized && String(authorizationError) !== 'CERT_HAS_EXPIRED') {
    return [
      bad(
        `the server at ${name} does not match the kubeconfig: ${String(authorizationError)} (${await processOn(place.port, place.host)})`,
        `use the kubeconfig of that server, or choose another port: ${hangar('up --port N')}`,
      ),
    ];
  }
  const life = { from: Date.parse(certificate.valid_from ?? ''), to: Date.parse(certificate.valid_to ?? '') };
  const next = 'restart Hangar to renew it';
  return [
    good(`Hangar listens at ${name}`),
    lifeOf("the server's certificate", { ...life, now: world.session.clock.now(), next }),
  ];
}

interface Opening {
  once(event: string, listener: (error: Error) => void): unknown;
  destroy(): unknown;
}

/** Closes a plain connection at once; checks the certificate of a TLS connection first. */
async function opened(socket: Opening, event: 'connect' | 'secureConnect'): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(event, () => resolve());
      socket.once('error', reject);
      socket.once('timeout', () => reject(new Error('no answer')));
      socket.once('close', () => reject(new Error('the connection was closed')));
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  if (event === 'connect') socket.destroy();
}

/** Who has the port: nobody, us, or somebody else; and what it shows. */

import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { asError, hasCode } from '@hangar/core';
import { bad, doubtful, good } from '../finding.ts';
import type { Check, DoctorWorld, Finding } from '../finding.ts';
import { lifeOf } from '../life.ts';

const defaultServer = 'https://127.0.0.1:6443';
const timeoutMs = 5_000;

export const port: Check = {
  name: 'port',
  async look(world) {
    const { hostname, port: given } = new URL(world.config?.server ?? defaultServer);
    const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(given || 443) };
    const name = `${hostname}:${place.port}`;
    try {
      await opened(connect({ ...place, timeout: timeoutMs }), 'connect');
    } catch (error) {
      if (hasCode(error, 'ECONNREFUSED')) return [bad(`nothing listens at ${name}: the port is free`, 'hangar up')];
      return [bad(`${name} cannot be reached: ${asError(error).message}`, 'is the address right, and the network up?')];
    }
    if (!world.config) {
      return [doubtful(`something listens at ${name}`, 'hangar up --port N takes another one, if it is not Hangar')];
    }
    return shown(world, place, name);
  },
};

async function shown(world: DoctorWorld, place: { host: string; port: number }, name: string): Promise<Finding[]> {
  const { ca, serverName } = world.config!;
  let socket: TLSSocket;
  try {
    // What is wrong with its certificate is told here, not thrown.
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
    return [bad(`something else listens at ${name}, which speaks no TLS: ${why}`, 'end it, or: hangar up --port N')];
  }
  const { authorized, authorizationError } = socket;
  const certificate = socket.getPeerCertificate() as DetailedPeerCertificate | Record<string, never>;
  socket.destroy();
  if (!authorized && String(authorizationError) !== 'CERT_HAS_EXPIRED') {
    return [
      bad(
        `who listens at ${name} is not who the kubeconfig says: ${String(authorizationError)}`,
        'it is another server, or Hangar with another data directory: take its kubeconfig, or hangar up --port N',
      ),
    ];
  }
  const life = { from: Date.parse(certificate.valid_from ?? ''), to: Date.parse(certificate.valid_to ?? '') };
  const next = 'start Hangar anew, which renews it';
  return [
    good(`Hangar listens at ${name}`),
    lifeOf("the server's certificate", { ...life, now: world.session.clock.now(), next }),
  ];
}

interface Opening {
  once(event: string, listener: (error: Error) => void): unknown;
  destroy(): unknown;
}

/** A plain connection is closed again; one with TLS is looked at first. */
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

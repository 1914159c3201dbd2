/** Fixed credentials in the kubeconfig itself: a token, a user name with a password, a certificate. */

import type { ClientCertificate, Credentials } from './cluster-config.ts';
import { bearer, digest } from './credentials-material.ts';

export function tokenCredentials(token: string): Credentials {
  const headers = bearer(token);
  return { headers: () => headers, fingerprint: digest('token', token) };
}

export function basicCredentials(username: string, password: string): Credentials {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  return { headers: () => headers, fingerprint: digest('basic', username, password) };
}

export function certificateCredentials(pair: ClientCertificate): Credentials {
  return {
    headers: () => none,
    clientCertificate: () => Promise.resolve(pair),
    fingerprint: digest('certificate', pair.certificate, pair.key),
  };
}

/** Combines a certificate for the connection with other credentials for requests. */
export function bothCredentials(ofConnection: Credentials, ofRequest: Credentials): Credentials {
  return {
    headers: (signal) => ofRequest.headers(signal),
    clientCertificate: async (signal) =>
      (await ofRequest.clientCertificate?.(signal)) ?? ofConnection.clientCertificate?.(signal),
    refresh: async (signal) => (await ofRequest.refresh?.(signal)) ?? false,
    fingerprint: digest(ofConnection.fingerprint ?? '', ofRequest.fingerprint ?? ''),
  };
}

const none: Readonly<Record<string, string>> = {};

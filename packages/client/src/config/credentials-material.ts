/** Checks values for headers and for the identity of a connection. */

import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import type { ClientCertificate } from './cluster-config.ts';

/** Other characters in a header could inject a second one (RFC 9110, 5.5). */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() === text;

export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** Returns the reason why they are not a valid client certificate; undefined when they are. */
export function pairProblem({ certificate, key }: ClientCertificate): string | undefined {
  try {
    const issued = new X509Certificate(certificate);
    return issued.checkPrivateKey(createPrivateKey(key)) ? undefined : 'the private key does not match the certificate';
  } catch {
    // Omits the message of OpenSSL: it does not help, and could quote the key.
    return 'the certificate or the private key is not valid PEM';
  }
}

export const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Checks of what becomes a header or a connection's identity, wherever it came from. */

import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import type { ClientCertificate } from './cluster-config.ts';

/** Anything else in a header is an attempt to write a second one (RFC 9110, 5.5). */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() === text;

export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** Why they cannot be a client's certificate; undefined when they can. */
export function pairProblem({ certificate, key }: ClientCertificate): string | undefined {
  try {
    const issued = new X509Certificate(certificate);
    return issued.checkPrivateKey(createPrivateKey(key)) ? undefined : 'the private key does not match the certificate';
  } catch {
    // OpenSSL's words say nothing that helps, and could quote the key.
    return 'the certificate or the private key is not valid PEM';
  }
}

export const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

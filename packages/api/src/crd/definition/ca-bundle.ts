/** Certificates of authorities that a webhook is trusted by. */

import { X509Certificate } from 'node:crypto';

/** Base64 of PEM with at least one certificate that can be read. */
export function isCaBundle(base64: string): boolean {
  const text = Buffer.from(base64, 'base64').toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return (
    blocks.length > 0 &&
    blocks.every((block) => {
      try {
        return new X509Certificate(block).subject !== undefined;
      } catch {
        return false;
      }
    })
  );
}

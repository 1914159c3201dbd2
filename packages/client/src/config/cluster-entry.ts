/** Reads the cluster of a kubeconfig: its address and the trusted CA. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { asError } from '@hangar/core';
import { shownAddress } from '../shown-address.ts';
import type { ClusterConfig } from './cluster-config.ts';
import type { ExecCluster } from './exec/exec-info.ts';
import type { Entry } from './kubeconfig-document.ts';
import type { Trust } from './trust.ts';

const execExtension = 'client.authentication.k8s.io/exec';
const proxyProtocols: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:']);

export type ClusterPart = Pick<
  ClusterConfig,
  'server' | 'ca' | 'serverName' | 'isInsecure' | 'proxyUrl' | 'disableCompression'
>;

export async function clusterOf(entry: Entry, trust: Trust): Promise<ClusterPart & Pick<ExecCluster, 'config'>> {
  const { fields } = entry;
  const ca = await authorityOf(entry, trust);
  const isInsecure = fields.flag('insecure-skip-tls-verify');
  if (isInsecure && ca !== undefined) {
    throw fields.error('insecure-skip-tls-verify', 'must not be true when a certificate authority is set');
  }
  return {
    server: serverOf(entry),
    ca,
    serverName: fields.text('tls-server-name'),
    isInsecure,
    proxyUrl: proxyOf(entry),
    disableCompression: fields.flag('disable-compression'),
    config: fields
      .objects('extensions')
      .find((extension) => extension.any('name') === execExtension)
      ?.any('extension'),
  };
}

function serverOf({ fields }: Entry): string {
  const text = fields.text('server');
  if (text === undefined) throw fields.error('server', 'must be set');
  // As in kubectl: `host:port` alone is plain HTTP, regardless of other fields.
  const url = parsedUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === undefined || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw fields.error('server', `${shownAddress(text)} is not a valid server URL`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw fields.error('server', `${shownAddress(text)} must start with https:// or http://`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function proxyOf({ fields }: Entry): string | undefined {
  const text = fields.text('proxy-url');
  if (text === undefined) return undefined;
  const url = parsedUrl(text);
  if (url === undefined || !proxyProtocols.has(url.protocol)) {
    throw fields.error('proxy-url', 'is not an http, https or socks5 URL');
  }
  return text;
}

const parsedUrl = (text: string): URL | undefined => URL.parse(text) ?? undefined;

async function authorityOf({ fields, folder }: Entry, trust: Trust): Promise<string | undefined> {
  const name = 'certificate-authority';
  const data = fields.text(`${name}-data`);
  const path = fields.text(name);
  if (data !== undefined) return pemOf(data, () => fields.error(`${name}-data`, 'is not base64-encoded PEM'));
  if (path === undefined) return undefined;
  if (!trust.allowFiles) throw fields.error(name, 'files are not allowed in this kubeconfig');
  let text: string;
  try {
    text = await readFile(resolve(folder ?? '', path), 'utf8');
  } catch (cause) {
    throw fields.error(name, asError(cause).message, cause);
  }
  if (!text.includes('-----BEGIN')) throw fields.error(name, `${path} is not PEM`);
  return text;
}

/** Node ignores invalid characters in base64: the result must not become an empty CA. */
export function pemOf(base64: string, error: () => Error): string {
  const text = Buffer.from(base64, 'base64').toString();
  if (!text.includes('-----BEGIN')) throw error();
  return text;
}

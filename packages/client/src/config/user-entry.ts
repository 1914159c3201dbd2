/** Reads the user of a kubeconfig: credentials and impersonation. The rules for combinations of fields are those of kubectl. */

import { resolve } from 'node:path';
import type { Clock } from '@hangar/core';
import { CertificateFiles } from './certificate-files.ts';
import type { Pem } from './certificate-files.ts';
import type { Credentials, Impersonation } from './cluster-config.ts';
import { pemOf } from './cluster-entry.ts';
import { isHeaderValue, isToken, pairProblem } from './credentials-material.ts';
import { execConfigOf } from './exec/exec-config.ts';
import { ExecCredentials } from './exec/exec-credentials.ts';
import type { ExecCluster } from './exec/exec-info.ts';
import type { Fields } from './fields.ts';
import type { Entry } from './kubeconfig-document.ts';
import { basicCredentials, bothCredentials, certificateCredentials, tokenCredentials } from './static-credentials.ts';
import { TokenFile } from './token-file.ts';
import type { Trust } from './trust.ts';

export interface UserContext {
  readonly trust: Trust;
  readonly cluster: ExecCluster;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
}

export function credentialsOf(entry: Entry, context: UserContext): Credentials | undefined {
  const { fields } = entry;
  refuseProvider(fields);
  const ofConnection = certificateOf(entry, context.trust);
  const found = [
    ['token', tokenOf(entry, context)],
    ['username', basicOf(fields)],
    ['exec', execOf(entry, context)],
  ].filter((one): one is [string, Credentials] => one[1] !== undefined);
  if (found.length > 1) throw fields.error(found[1]![0], `must not be set together with ${found[0]![0]}`);
  const ofRequest = found[0]?.[1];
  return ofConnection && ofRequest ? bothCredentials(ofConnection, ofRequest) : (ofRequest ?? ofConnection);
}

export function impersonationOf({ fields }: Entry): Impersonation | undefined {
  const user = fields.text('as');
  const uid = fields.text('as-uid');
  const groups = fields.texts('as-groups');
  const extra = fields.textsByName('as-user-extra');
  for (const value of [user ?? '', uid ?? '', ...groups, ...Object.values(extra).flat()]) {
    if (!isHeaderValue(value)) throw fields.error('as', 'contains characters that are not allowed in a header');
  }
  if (user === undefined) {
    if (uid === undefined && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
    throw fields.error('as', 'must be set when as-uid, as-groups or as-user-extra is set');
  }
  return {
    user,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

const replacements: Readonly<Record<string, string>> = {
  gcp: 'use the exec plugin gke-gcloud-auth-plugin',
  azure: 'use the exec plugin kubelogin',
  oidc: 'use an exec plugin, such as kubectl oidc-login',
};

function refuseProvider(fields: Fields): void {
  const provider = fields.object('auth-provider');
  if (provider === undefined) return;
  const name = provider.text('name') ?? '';
  const hint = Object.hasOwn(replacements, name) ? replacements[name] : 'use an exec plugin';
  throw fields.error('auth-provider', `auth providers were removed from Kubernetes clients: ${hint}`);
}

function tokenOf({ fields, folder }: Entry, { trust, clock }: UserContext): Credentials | undefined {
  const token = fields.text('token');
  if (token !== undefined && !isToken(token))
    throw fields.error('token', 'contains characters that are not allowed in a token');
  const path = fields.text('tokenFile');
  if (path === undefined) return token === undefined ? undefined : tokenCredentials(token);
  refuseFiles(fields, 'tokenFile', trust);
  return new TokenFile(resolve(folder ?? '', path), { token, clock });
}

function basicOf(fields: Fields): Credentials | undefined {
  const [username, password] = [fields.text('username'), fields.text('password')];
  if (username === undefined && password === undefined) return undefined;
  if (username?.includes(':')) throw fields.error('username', 'must not contain a colon');
  return basicCredentials(username ?? '', password ?? '');
}

function execOf({ fields, folder }: Entry, { trust, cluster, clock, env }: UserContext): Credentials | undefined {
  const exec = fields.object('exec');
  if (exec === undefined) return undefined;
  if (!trust.allowExec) throw fields.error('exec', 'exec plugins are not allowed in this kubeconfig');
  return new ExecCredentials({ config: execConfigOf(exec, folder), cluster, clock, env });
}

function certificateOf(entry: Entry, trust: Trust): Credentials | undefined {
  const { fields } = entry;
  const certificate = pemIn(entry, 'client-certificate', trust);
  const key = pemIn(entry, 'client-key', trust);
  if (certificate === undefined) return undefined;
  if (key === undefined) throw fields.error('client-key', 'must be set where client-certificate is');
  if ('path' in certificate || 'path' in key) return new CertificateFiles(certificate, key);
  const pair = { certificate: certificate.data, key: key.data };
  const problem = pairProblem(pair);
  if (problem !== undefined) throw fields.error('client-certificate-data', problem);
  return certificateCredentials(pair);
}

function pemIn({ fields, folder }: Entry, name: string, trust: Trust): Pem | undefined {
  const data = fields.text(`${name}-data`);
  if (data !== undefined) return { data: pemOf(data, () => fields.error(`${name}-data`, 'is not base64-encoded PEM')) };
  const path = fields.text(name);
  if (path === undefined) return undefined;
  refuseFiles(fields, name, trust);
  return { path: resolve(folder ?? '', path) };
}

function refuseFiles(fields: Fields, name: string, { allowFiles }: Trust): void {
  if (!allowFiles) throw fields.error(name, 'files are not allowed in this kubeconfig');
}

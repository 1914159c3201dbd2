/**
 * The parts of a control plane's kubeconfig: server, CA and credential. The kubeconfig comes from a Secret that others may write, and is
 * copied into files from which kubectl runs programs and reads other files. So only inline values are accepted, and everything else
 * (`exec`, `auth-provider`, file names, proxies) is refused.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { parseYaml } from '@hangar/api/yaml';
import { failed } from '../errors.ts';
import { quoted } from '../terminal/plain-text.ts';

export interface Access extends KubeconfigEntries {
  readonly user: Readonly<Record<string, string>>;
}

/** The entries of a kubeconfig that this program writes. */
export interface KubeconfigEntries {
  readonly cluster: Readonly<Record<string, string>>;
  readonly user: Readonly<JsonObject>;
}

const clusterFields = new Set(['server', 'certificate-authority-data', 'tls-server-name']);
const userFields = new Set(['client-certificate-data', 'client-key-data', 'token']);
const textMax = 1024 * 1024;

/** `source`: for messages. Throws `Failed`. */
export function readAccess(text: string, source: string): Access {
  const refused = (problem: string, cause?: unknown): Error =>
    failed(`the kubeconfig in ${source} ${problem}`, { cause });
  if (text.length > textMax) throw refused('is too long');
  let root: unknown;
  try {
    root = parseYaml(text).value;
  } catch (error) {
    throw refused('is not valid YAML', error);
  }
  const config = fieldsOf(root);
  const current = config['current-context'];
  const context = fieldsOf(entry(config['contexts'], current, 'context'));
  const cluster = entry(config['clusters'], context['cluster'], 'cluster');
  const user = entry(config['users'], context['user'], 'user');
  if (!cluster || !user) throw refused('has no current context with a cluster and a user');
  const access = {
    cluster: known(cluster, clusterFields, refused),
    user: known(user, userFields, refused),
  };
  if (!isWebAddress(access.cluster['server'])) throw refused('has no https URL of the control plane');
  return access;
}

const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

function entry(list: unknown, name: unknown, part: string): JsonObject | undefined {
  if (!Array.isArray(list)) return undefined;
  const found = list.find((one) => isObject(one) && one['name'] === name) as JsonObject | undefined;
  const value = found?.[part];
  return isObject(value) ? value : undefined;
}

function known(
  object: JsonObject,
  names: ReadonlySet<string>,
  refused: (problem: string) => Error,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === '') continue;
    if (!names.has(name) || typeof value !== 'string') {
      throw refused(`has the field ${quoted(name)}, which is not allowed in a kubeconfig from a server`);
    }
    kept[name] = value;
  }
  return kept;
}

function isWebAddress(server: string | undefined): boolean {
  if (server === undefined || !URL.canParse(server)) return false;
  const { protocol, username, password } = new URL(server);
  return protocol === 'https:' && username === '' && password === '';
}

/** Name of the cluster, user and context in every kubeconfig that this program writes. */
export const contextName = (controlPlane: string): string => `hangar-${controlPlane}`;

/** Returns a standalone kubeconfig. */
export const kubeconfigOf = (controlPlane: string, { cluster, user }: KubeconfigEntries): JsonObject => {
  const name = contextName(controlPlane);
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { ...cluster } }],
    users: [{ name, user: { ...user } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
};

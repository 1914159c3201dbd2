/**
 * Reads kubeconfigs. A file of the user can do what kubectl allows: reference other files and run credential plugins. A text from
 * elsewhere (`configOfKubeconfig`: Secrets, downloads) is untrusted unless the caller allows more, so that its author cannot read the
 * files of this machine or run programs on it.
 */

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { asError, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { clusterOf } from './cluster-entry.ts';
import type { Entry, KubeconfigDocument } from './kubeconfig-document.ts';
import { mergeDocuments, readDocument, shown } from './kubeconfig-document.ts';
import type { Trust } from './trust.ts';
import { credentialsOf, impersonationOf } from './user-entry.ts';

/** Options for reading a kubeconfig. */
export interface KubeconfigOptions {
  /** Name of the context. Absent: `current-context`. */
  readonly context?: string | undefined;
  /** Clock for the renewal of credentials. Absent: the system clock. */
  readonly clock?: Clock | undefined;
  /** Environment of credential plugins. Absent: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Options for reading an untrusted kubeconfig. */
export interface ForeignKubeconfigOptions extends KubeconfigOptions {
  /** Origin for error messages, such as `Secret fleet/east`. */
  readonly source?: string | undefined;
  /** Folder that relative paths refer to. */
  readonly baseFolder?: string | undefined;
  /** Allows `tokenFile`, `certificate-authority`, `client-certificate` and `client-key`. Absent: false. */
  readonly allowFiles?: boolean | undefined;
  /** Allows credential plugins. Absent: false. */
  readonly allowExec?: boolean | undefined;
}

/** Parsing a megabyte of YAML blocks for a quarter of a second. In characters. */
const foreignMax = 256 * 1024;

/** Returns the configuration of an untrusted kubeconfig, given as text or as the parsed object. Rejects with `InvalidKubeconfig`. */
export async function configOfKubeconfig(
  content: string | object,
  options: ForeignKubeconfigOptions = {},
): Promise<ClusterConfig> {
  const { source = 'kubeconfig', baseFolder, allowFiles = false, allowExec = false } = options;
  if (typeof content === 'string' && content.length > foreignMax) {
    throw new ClientError('InvalidKubeconfig', `${source}: it is larger than ${foreignMax / 1024} KiB`);
  }
  const folder = baseFolder === undefined ? undefined : resolve(baseFolder);
  return configOf(readDocument(content, { source, folder }), { allowFiles, allowExec }, options);
}

/**
 * Returns the configuration of a kubeconfig file, or of several files that are merged as kubectl merges the files in `KUBECONFIG`. All
 * files must exist. Rejects with `InvalidKubeconfig`.
 */
export async function loadKubeconfig(
  path: string | readonly string[],
  options: KubeconfigOptions = {},
): Promise<ClusterConfig> {
  const documents = await Promise.all([path].flat().map((one) => readFileDocument(one)));
  return configOf(mergeDocuments(documents), ownFiles, options);
}

/** Reads `KUBECONFIG` as kubectl does: skips files that do not exist. Returns undefined if none exists. */
export async function loadKubeconfigList(
  list: string,
  options: KubeconfigOptions = {},
): Promise<ClusterConfig | undefined> {
  const paths = [...new Set(list.split(delimiter).filter((path) => path !== ''))];
  const read = await Promise.all(paths.map((path) => readFileDocument(path).catch(undefinedWhenAbsent)));
  const documents = read.filter((document) => document !== undefined);
  return documents.length === 0 ? undefined : configOf(mergeDocuments(documents), ownFiles, options);
}

export const homeKubeconfig = (home: string = homedir()): string => join(home, '.kube', 'config');

const ownFiles: Trust = { allowFiles: true, allowExec: true };

async function readFileDocument(path: string): Promise<KubeconfigDocument> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ClientError('InvalidKubeconfig', `${path}: ${asError(cause).message}`, { cause });
  }
  return readDocument(text, { source: path, folder: dirname(resolve(path)) });
}

function undefinedWhenAbsent(error: Error): undefined {
  if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error;
}

async function configOf(
  document: KubeconfigDocument,
  trust: Trust,
  { context, clock = systemClock, env = process.env }: KubeconfigOptions,
): Promise<ClusterConfig> {
  const { fields } = contextOf(document, context);
  const clusterName = fields.text('cluster');
  if (clusterName === undefined) throw fields.error('cluster', 'must be set');
  const cluster = document.clusters.get(clusterName);
  if (cluster === undefined) throw fields.error('cluster', `cluster ${shown(clusterName)} does not exist`);
  const userName = fields.text('user');
  const user = userName === undefined ? undefined : document.users.get(userName);
  if (userName !== undefined && user === undefined) {
    throw fields.error('user', `user ${shown(userName)} does not exist`);
  }
  const { config, ...part } = await clusterOf(cluster, trust);
  const impersonate = user && impersonationOf(user);
  const credentials = user && credentialsOf(user, { trust, cluster: { ...part, config }, clock, env });
  const namespace = fields.text('namespace');
  // As in kubectl: credentials are not sent over plain HTTP.
  return part.server.startsWith('http:') ? { ...part, namespace } : { ...part, impersonate, credentials, namespace };
}

function contextOf({ source, contexts, currentContext }: KubeconfigDocument, wanted: string | undefined): Entry {
  const name = wanted ?? currentContext;
  const known = `available contexts: ${contexts.size === 0 ? 'none' : [...contexts.keys()].slice(0, 20).map(shown).join(', ')}`;
  if (name === undefined) {
    throw new ClientError(
      'InvalidKubeconfig',
      `${source}: current-context: must be set, or a context must be given; ${known}`,
    );
  }
  const entry = contexts.get(name);
  if (entry === undefined) {
    throw new ClientError('InvalidKubeconfig', `${source}: contexts: context ${shown(name)} does not exist; ${known}`);
  }
  return entry;
}

/**
 * Reads the kubeconfig in a Secret, and rewrites it for another address. The writer of the Secret is not trusted: files and programs that
 * it names are not touched.
 */

import { dumpYaml, parseYaml } from '@hangar/api/yaml';
import type { JsonObject } from '@hangar/api';
import { configOfKubeconfig } from '@hangar/client';
import { asError } from '@hangar/core';
import { httpsUrl } from '../endpoint/resolve.ts';

export const kubeconfigKey = 'kubeconfig';

/** `problem`: why it is unusable. */
export type KubeconfigFacts =
  | { readonly server: string; readonly problem?: undefined }
  | { readonly server?: undefined; readonly problem: string };

interface SecretData {
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** Undefined: the Secret has none. */
export function kubeconfigIn({ data }: SecretData): string | undefined {
  const encoded = data?.[kubeconfigKey];
  return encoded ? Buffer.from(encoded, 'base64').toString() : undefined;
}

/** Never rejects. */
export async function kubeconfigFacts(secret: SecretData): Promise<KubeconfigFacts> {
  const text = kubeconfigIn(secret);
  if (text === undefined) return { problem: `key "${kubeconfigKey}" is missing` };
  try {
    const { server } = await configOfKubeconfig(text, { source: kubeconfigKey });
    return httpsUrl(server) ? { server } : { problem: 'the server of the kubeconfig is not an https URL' };
  } catch (error) {
    return { problem: asError(error).message };
  }
}

/** Replaces only the server of its current cluster. The text must be one that `kubeconfigFacts` accepts. */
export function withServer(text: string, server: string): string {
  const document = parseYaml(text).value as {
    readonly 'current-context'?: string;
    readonly contexts?: readonly { readonly name: string; readonly context: { readonly cluster: string } }[];
    readonly clusters?: readonly { readonly name: string; readonly cluster: object }[];
  };
  const context = document.contexts?.find(({ name }) => name === document['current-context'])?.context;
  const clusters = document.clusters?.map((entry) =>
    entry.name === context?.cluster ? { ...entry, cluster: { ...entry.cluster, server } } : entry,
  );
  return dumpYaml({ ...document, clusters } as unknown as JsonObject);
}

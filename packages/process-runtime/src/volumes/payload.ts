/** The files of Secret, ConfigMap, downward API and projected volumes. */

import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  Secret,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
} from '@hangar/client/kinds/core-v1';
import { ProcessRuntimeError } from '../errors.ts';
import { fieldValue, resourceValue } from '../spec/downward.ts';
import type { PodPlace } from '../spec/downward.ts';
import type { ConfigReader } from '../spec/environment.ts';
import type { VolumeFile, VolumeFiles } from './atomic-files.ts';

export interface PayloadOptions {
  readonly pod: Pod;
  readonly place: PodPlace;
  readonly config: ConfigReader;
  /** Returns a token of the service account of the pod, renewed before it expires. */
  token(pod: Pod, projection: ServiceAccountTokenProjection): Promise<string>;
}

const defaultMode = 0o644;

/** Returns the sources of a volume that consists of written files. Undefined: another type of volume. */
export function projectionsOf(volume: Volume): { sources: VolumeProjection[]; mode: number } | undefined {
  const { secret, configMap, downwardAPI, projected } = volume;
  if (secret) {
    const { secretName = '', items, optional } = secret;
    return {
      mode: secret.defaultMode ?? defaultMode,
      sources: [{ secret: defined({ name: secretName, items, optional }) }],
    };
  }
  if (configMap) {
    const { name = '', items, optional } = configMap;
    return { mode: configMap.defaultMode ?? defaultMode, sources: [{ configMap: defined({ name, items, optional }) }] };
  }
  if (downwardAPI) return { mode: downwardAPI.defaultMode ?? defaultMode, sources: [{ downwardAPI }] };
  if (projected) return { mode: projected.defaultMode ?? defaultMode, sources: projected.sources ?? [] };
  return undefined;
}

const defined = <T extends object>(object: { [Field in keyof T]: T[Field] | undefined }): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

/** Returns the files. Rejects with `FailedMount` when a required object or key does not exist. */
export async function filesOf(
  { sources, mode }: { sources: readonly VolumeProjection[]; mode: number },
  options: PayloadOptions,
): Promise<VolumeFiles> {
  const files = new Map<string, VolumeFile>();
  for (const source of sources) {
    for (const [path, file] of await filesOfSource(source, mode, options)) files.set(checked(path), file);
  }
  return files;
}

async function filesOfSource(
  { secret, configMap, downwardAPI, serviceAccountToken }: VolumeProjection,
  mode: number,
  options: PayloadOptions,
): Promise<[string, VolumeFile][]> {
  const { pod, config } = options;
  const namespace = pod.metadata.namespace!;
  if (secret) {
    const found = await config.secret(namespace, secret.name ?? '');
    if (found) return selected(dataOfSecret(found), secret, { mode, of: `secret ${namespace}/${secret.name}` });
    if (secret.optional) return [];
    throw failed(`secret ${JSON.stringify(secret.name)} not found`);
  }
  if (configMap) {
    const found = await config.configMap(namespace, configMap.name ?? '');
    if (found)
      return selected(dataOfConfigMap(found), configMap, { mode, of: `configmap ${namespace}/${configMap.name}` });
    if (configMap.optional) return [];
    throw failed(`configmap ${JSON.stringify(configMap.name)} not found`);
  }
  if (downwardAPI) return (downwardAPI.items ?? []).map((item) => [item.path, downwardFile(item, mode, options)]);
  if (serviceAccountToken) {
    const token = await options.token(pod, serviceAccountToken);
    return [[serviceAccountToken.path, { data: Buffer.from(token), mode: 0o600 }]];
  }
  throw failed('the process runtime supports the projections secret, configMap, downwardAPI and serviceAccountToken');
}

interface Selection {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

function selected(
  data: ReadonlyMap<string, Buffer>,
  { items, optional }: Selection,
  { mode, of }: { mode: number; of: string },
): [string, VolumeFile][] {
  if (!items) return Array.from(data, ([path, bytes]) => [path, { data: bytes, mode }]);
  return items.flatMap(({ key, path, mode: own }): [string, VolumeFile][] => {
    const bytes = data.get(key);
    if (bytes) return [[path, { data: bytes, mode: own ?? mode }]];
    if (optional) return [];
    throw failed(`references non-existent key ${JSON.stringify(key)} of ${of}`);
  });
}

const dataOfSecret = ({ data = {} }: Secret): Map<string, Buffer> =>
  new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));

const dataOfConfigMap = ({ data = {}, binaryData = {} }: ConfigMap): Map<string, Buffer> =>
  new Map([
    ...Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const),
    ...Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const),
  ]);

function downwardFile(item: DownwardAPIVolumeFile, mode: number, { pod, place }: PayloadOptions): VolumeFile {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const text = item.fieldRef
    ? fieldValue(pod, place, item.fieldRef.fieldPath)
    : resourceValue(containers, place, {
        ...item.resourceFieldRef!,
        container: item.resourceFieldRef?.containerName ?? '',
      });
  return { data: Buffer.from(text), mode: item.mode ?? mode };
}

/** The server validates paths; this protects the machine from a server that does not. */
function checked(path: string): string {
  const parts = path.split('/');
  if (path === '' || path.startsWith('/') || parts.includes('..') || parts[0]!.startsWith('..')) {
    throw failed(`invalid path ${JSON.stringify(path)} in a volume`);
  }
  return path;
}

const failed = (message: string): ProcessRuntimeError => new ProcessRuntimeError('FailedMount', message);

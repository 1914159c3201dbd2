/** Files of a volume with the same path. */

import { quote } from '../../../status/field-error.ts';
import { isEmptyObject } from '../../../apply/values.ts';
import type { Volume, VolumeProjection } from '../types/volume.ts';

interface Place {
  readonly path: string;
  readonly source: string;
}

export function overlapWarnings(volumes: readonly Volume[]): string[] {
  const warnings: string[] = [];
  for (const { name = '', configMap, secret, downwardAPI, projected } of volumes) {
    const add = (kind: string, places: readonly Place[]): void => {
      for (const text of overlaps(places)) {
        warnings.push(`volume ${quote(name)} (${kind}): overlapping paths: ${text}`);
      }
    };
    if (isSeveral(configMap?.items)) add(`ConfigMap ${quote(configMap!.name ?? '')}`, placesOf(configMap!.items));
    if (isSeveral(secret?.items)) add(`Secret ${quote(secret!.secretName ?? '')}`, placesOf(secret!.items));
    if (isSeveral(downwardAPI?.items)) add('DownwardAPI', placesOf(downwardAPI!.items));
    const sources = projected?.sources ?? [];
    for (const source of sources) {
      if (isEmptyObject(source)) warnings.push(`volume ${quote(name)} (Projected) has no sources provided`);
    }
    if (sources.length > 0) add('Projected', sources.flatMap(projectedPlaces));
  }
  return warnings;
}

/** Other volumes, such as `emptyDir`, have no declared files; and a single file has no overlap. */
const isSeveral = (items: readonly unknown[] | null | undefined): boolean => (items?.length ?? 0) > 1;

const placesOf = (items: readonly { readonly path?: string }[] | null | undefined, source = ''): Place[] =>
  (items ?? []).map(({ path = '' }) => ({ path: path.endsWith('/') ? path.replace(/\/+$/, '') : path, source }));

function projectedPlaces(projection: VolumeProjection): Place[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  if (configMap?.items) return placesOf(configMap.items, `ConfigMap ${quote(configMap.name ?? '')}`);
  if (secret?.items) return placesOf(secret.items, `Secret ${quote(secret.name ?? '')}`);
  if (downwardAPI?.items) return placesOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return placesOf([serviceAccountToken], 'ServiceAccountToken');
  if (clusterTrustBundle) {
    const name = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? '';
    return placesOf([clusterTrustBundle], `ClusterTrustBundle ${quote(name)}`);
  }
  const files = [
    [podCertificate?.certificateChainPath, 'chain'],
    [podCertificate?.keyPath, 'key'],
    [podCertificate?.credentialBundlePath, 'credential bundle'],
  ] as const;
  return files.flatMap(([path, what]) => (path ? placesOf([{ path }], `PodCertificate ${what}`) : []));
}

/** The cost is quadratic; of more files, only the first are compared. */
const placesMax = 1000;

function overlaps(places: readonly Place[]): string[] {
  const found: string[] = [];
  if (places.length < 2) return found;
  const known = places.slice(0, placesMax).filter(({ path }) => path !== '');
  for (let i = 1; i < known.length; i++) {
    const place = known[i]!;
    for (let j = 0; j < i; j++) {
      const other = known[j]!;
      if (isWithin(other.path, place.path) || isWithin(place.path, other.path)) {
        found.push(`${show(place)} with ${show(other)}`);
      }
    }
  }
  return found;
}

/** Reports whether the path is the folder or is below it. */
const isWithin = (path: string, folder: string): boolean =>
  path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');

const show = ({ path, source }: Place): string => (source === '' ? quote(path) : `${quote(path)} (${source})`);

/** Files of a volume with the same path. */

import { quote } from '../../../status/field-error.ts';
import { isSet } from '../base/checks.ts';
import type { Volume, VolumeProjection } from '../types/volume.ts';

interface Place {
  readonly path: string;
  readonly source: string;
}

export function overlapWarnings(volumes: readonly Volume[]): string[] {
  return volumes.filter(hasFiles).flatMap((volume) => {
    const warn = (kind: string, places: readonly Place[]): string[] =>
      overlaps(places).map((text) => `volume ${quote(volume.name ?? '')} (${kind}): overlapping paths: ${text}`);
    const { configMap, secret, downwardAPI, projected } = volume;
    return [
      ...warn(`ConfigMap ${quote(configMap?.name ?? '')}`, placesOf(configMap?.items)),
      ...warn(`Secret ${quote(secret?.secretName ?? '')}`, placesOf(secret?.items)),
      ...warn('DownwardAPI', placesOf(downwardAPI?.items)),
      ...(projected?.sources ?? [])
        .filter((source) => Object.keys(source).length === 0)
        .map(() => `volume ${quote(volume.name ?? '')} (Projected) has no sources provided`),
      ...warn('Projected', (projected?.sources ?? []).flatMap(projectedPlaces)),
    ];
  });
}

/** Other volumes, such as `emptyDir`, have no declared files; and a single file has no overlap. */
const hasFiles = ({ configMap, secret, downwardAPI, projected }: Volume): boolean =>
  [configMap, secret, downwardAPI].some((source) => (source?.items?.length ?? 0) > 1) || isSet(projected);

const placesOf = (items: readonly { readonly path?: string }[] | null | undefined, source = ''): Place[] =>
  (items ?? []).map(({ path = '' }) => ({ path: path.replace(/\/+$/, ''), source }));

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
  if (places.length < 2) return [];
  const known = places.slice(0, placesMax).filter(({ path }) => path !== '');
  return known.flatMap((place, i) =>
    known
      .slice(0, i)
      .filter(({ path }) => `${path}/`.startsWith(`${place.path}/`) || `${place.path}/`.startsWith(`${path}/`))
      .map((other) => `${show(place)} with ${show(other)}`),
  );
}

const show = ({ path, source }: Place): string => (source === '' ? quote(path) : `${quote(path)} (${source})`);

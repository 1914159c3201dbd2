/**
 * Selects the Go packages of the table: those of every group-version that the server can serve, and a few that occur in bodies without
 * being served (admission reviews, discovery documents, meta).
 */

import { join } from 'node:path';
import type { Sources } from './modules.ts';

export interface ApiPackage {
  /** Its name in the table: `core/v1`. */
  readonly id: string;
  readonly importPath: string;
  readonly folder: string;
  /** Prefix of its schemas in OpenAPI documents. */
  readonly openApi: string;
}

/** Used by clients or webhooks, but not in discovery. */
const unserved = ['admission/v1', 'apidiscovery/v2'];

export function apiPackages(from: Sources, served: ReadonlySet<string>): ApiPackage[] {
  const inApi = [...new Set([...served, ...unserved])].sort().map((id) => ({
    id,
    importPath: `k8s.io/api/${id}`,
    folder: join(from.api, id),
    openApi: `io.k8s.api.${id.replace('/', '.')}`,
  }));
  return [
    ...inApi,
    {
      id: 'apiextensions/v1',
      importPath: 'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1',
      folder: join(from.apiextensions, 'pkg/apis/apiextensions/v1'),
      openApi: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
    },
    {
      id: 'apiregistration/v1',
      importPath: 'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1',
      folder: join(from.aggregator, 'pkg/apis/apiregistration/v1'),
      openApi: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
    },
    {
      id: 'meta/v1',
      importPath: 'k8s.io/apimachinery/pkg/apis/meta/v1',
      folder: join(from.apimachinery, 'pkg/apis/meta/v1'),
      openApi: 'io.k8s.apimachinery.pkg.apis.meta.v1',
    },
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
}

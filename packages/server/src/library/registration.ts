/** APIServices with which a cluster proxies requests for declared kinds to their server. */

import type { Kind } from './kind.ts';

export interface RegistrationOptions {
  readonly kinds: readonly Kind[];
  /** The Service of the server. */
  readonly service: { readonly namespace: string; readonly name: string; readonly port?: number };
  /** Certificate authority of the serving certificate, in PEM. */
  readonly ca: string;
  readonly groupPriority?: number;
  readonly versionPriority?: number;
}

/** Returns one APIService for each group-version, to be created in the cluster. */
export function registration(options: RegistrationOptions): object[] {
  const { service, groupPriority = 1_000, versionPriority = 15 } = options;
  const versions = new Map(
    options.kinds.flatMap(({ definition: { spec } }) =>
      spec.versions.map(({ name: version }) => [`${version}.${spec.group}`, { group: spec.group, version }] as const),
    ),
  );
  return [...versions].map(([name, { group, version }]) => ({
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name },
    spec: {
      group,
      version,
      service,
      caBundle: Buffer.from(options.ca).toString('base64'),
      groupPriorityMinimum: groupPriority,
      versionPriority,
    },
  }));
}

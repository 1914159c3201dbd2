/** OpenID Connect: an AuthenticationConfiguration of kube-apiserver, which reads the file again when it changes. */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { authenticationName } from '../names.ts';
import type { Plane } from '../plane.ts';
import { hasProviders } from './api-server.ts';
import { metadataOf } from './workload.ts';

/** The version of the configuration that is stable. Earlier minor versions of Kubernetes only have v1beta1. */
const stableMinor = 34;

export function authentication(plane: Plane): Rendered[] {
  if (!hasProviders(plane)) return [];
  const configuration = {
    apiVersion: `apiserver.config.k8s.io/${plane.version.minor < stableMinor ? 'v1beta1' : 'v1'}`,
    kind: 'AuthenticationConfiguration',
    // The definition allows only one of them.
    jwt: [...providers(plane), ...(plane.spec.authentication?.jwt ?? [])],
  };
  return [
    rendered(ConfigMap, {
      metadata: metadataOf(plane, authenticationName(plane), 'kube-apiserver'),
      data: { 'config.yaml': `${JSON.stringify(configuration, undefined, 2)}\n` },
    }),
  ];
}

function providers({ spec }: Plane): object[] {
  const sorted = Object.entries(spec.oidcProviders ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([url, { certificateAuthority, audiences, claimValidationRules, claimMappings }]) => ({
    issuer: {
      url,
      ...(certificateAuthority ? { certificateAuthority } : {}),
      audiences,
      ...(audiences.length > 1 ? { audienceMatchPolicy: 'MatchAny' } : {}),
    },
    ...(claimValidationRules ? { claimValidationRules } : {}),
    claimMappings: {
      username: { expression: claimMappings.username },
      ...(claimMappings.groups ? { groups: { expression: claimMappings.groups } } : {}),
    },
  }));
}

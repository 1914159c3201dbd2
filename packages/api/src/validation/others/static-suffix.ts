/** Names that are kept for admission configuration from files. */

import type { KubeObject } from '../../object.ts';

const suffix = '.static.k8s.io';

export const staticSuffixWarnings = ({ metadata: { name = '' } }: KubeObject): string[] =>
  name.endsWith(suffix)
    ? [
        `metadata.name: names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : [];

/** Options that select the served clusters and their kubeconfigs. */

import { parseLabelSelector } from '@hangar/api/selectors';
import { dnsLabelReasons } from '@hangar/api/formats';
import { UsageError } from '@hangar/core/command-line';
import { secretTemplate } from '@hangar/runtime/clusters';
import { checked, oneOf, readable } from './values.ts';

export const sources = ['registration', 'controlplaneendpoint'] as const;

export interface ClusterOptions {
  readonly source: (typeof sources)[number];
  /** In the syntax of kubectl -l; undefined: all. */
  readonly selector: string | undefined;
  /** The only namespace whose Secrets are read; undefined: any. */
  readonly namespaceScope: string | undefined;
  /** Of endpoints; undefined: the default. */
  readonly secretTemplate: string | undefined;
}

export interface ClusterFlags {
  readonly 'cluster-source': string;
  readonly 'cluster-selector'?: string | undefined;
  readonly 'cluster-namespace-scope'?: string | undefined;
  readonly 'cluster-kubeconfig-secret-template'?: string | undefined;
}

/** Throws a UsageError. */
export function clusterOptions(values: ClusterFlags): ClusterOptions {
  const source = oneOf('cluster-source', values['cluster-source'], sources);
  const selector = values['cluster-selector'];
  const scope = values['cluster-namespace-scope'];
  const template = values['cluster-kubeconfig-secret-template'];
  checkSelector('cluster-selector', selector);
  if (scope !== undefined) checked('cluster-namespace-scope', scope, dnsLabelReasons);
  if (template !== undefined) {
    if (source !== 'controlplaneendpoint') {
      throw new UsageError(
        '--cluster-kubeconfig-secret-template requires --cluster-source=controlplaneendpoint: a registration names its Secret',
      );
    }
    readable('cluster-kubeconfig-secret-template', () => secretTemplate(template, scope));
  }
  return { source, selector: selector || undefined, namespaceScope: scope, secretTemplate: template };
}

export function checkSelector(name: string, selector: string | undefined): void {
  if (selector !== undefined) readable(name, () => parseLabelSelector(selector));
}

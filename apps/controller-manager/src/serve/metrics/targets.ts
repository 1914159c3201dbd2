/** The processes to scrape, and the result of each scrape. */

import { labelText } from '@hangar/core';
import type { ClusterRow, Service, ServiceProcess } from '../../contract.ts';
import { services } from '../../contract.ts';
import { byName } from '../by-name.ts';

export interface Target {
  readonly cluster: string;
  readonly service: Service;
  /** Undefined: it should run, but does not at the moment. */
  readonly process: ServiceProcess | undefined;
}

/** Returns the targets of owned clusters, sorted by name. Engines inside this process are covered by our own metrics. */
export function targetsOf(rows: Iterable<ClusterRow>, clusters: ReadonlySet<string> | undefined): Target[] {
  return byName(rows)
    .filter(({ isOwned, cluster }) => isOwned && (clusters?.has(cluster.name) ?? true))
    .flatMap(({ cluster, engines, states }) =>
      services
        .filter((service) => states.has(service) && engines.get(service) === 'kube')
        .map((service) => ({ cluster: cluster.name, service, process: states.get(service)!.process })),
    );
}

/** In the text format. */
export function scrapeUpText(targets: readonly Target[], isUp: (target: Target) => boolean): string {
  const name = 'hangar_controller_manager_scrape_up';
  const lines = targets.map((target) => {
    const { cluster, service } = target;
    return `${name}${labelText({ cluster, service })} ${isUp(target) ? 1 : 0}\n`;
  });
  return `# HELP ${name} Whether the metrics of the process of the cluster could be scraped.\n# TYPE ${name} gauge\n${lines.join('')}`;
}

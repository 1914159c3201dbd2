/** Encodes options as query parameters. */

import type { ApplyOptions, DeleteOptions, ListOptions, WatchOptions, WriteOptions } from '../client.ts';

export function listQuery(options: ListOptions & WatchOptions & { readonly watch?: boolean }): string {
  return query({
    watch: options.watch ? 'true' : undefined,
    labelSelector: selectorText(options.labelSelector),
    fieldSelector: selectorText(options.fieldSelector),
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch ?? (options.sendInitialEvents ? 'NotOlderThan' : undefined),
    limit: options.limit?.toString(),
    continue: options.continue,
    allowWatchBookmarks: options.watch && options.allowWatchBookmarks ? 'true' : undefined,
    sendInitialEvents: options.sendInitialEvents?.toString(),
    timeoutSeconds: options.timeoutSeconds?.toString(),
  });
}

export function writeQuery(options: WriteOptions & Pick<ApplyOptions, 'force'>): string {
  return query({
    dryRun: options.dryRun ? 'All' : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    force: options.force?.toString(),
  });
}

/** Returns the fields of `DeleteOptions`. */
export function deleteFields({ gracePeriodSeconds, propagationPolicy, preconditions, dryRun }: DeleteOptions): object {
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
}

const selectorText = (selector: ListOptions['labelSelector']): string | undefined =>
  typeof selector === 'object'
    ? Object.entries(selector)
        .map(([name, value]) => `${name}=${value}`)
        .join(',')
    : selector;

function query(parameters: Readonly<Record<string, string | undefined>>): string {
  const given: string[] = [];
  for (const name in parameters) {
    const value = parameters[name];
    if (value !== undefined && value !== '') given.push(`${name}=${encodeURIComponent(value)}`);
  }
  return given.join('&');
}

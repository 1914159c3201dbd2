/** Merges the results of a query over several control planes. */

import type { EventPage, EventPosition, EventQuery } from './contract.ts';

/** Returns the query with the share of one of several control planes in the bytes that are read. */
export const shareOf = (query: EventQuery, planes: number): EventQuery => ({
  ...query,
  bytesMax: Math.max(1, Math.floor(query.bytesMax / planes)),
});

/** Reports whether an event comes before another in results. */
export const isNewer = (a: EventPosition, b: EventPosition): boolean =>
  a.timeUs > b.timeUs || (a.timeUs === b.timeUs && a.sequence > b.sequence);

/**
 * Returns the newest events of all pages. Events that come after the end of an incomplete page are left out: newer ones of that page may
 * follow.
 */
export function mergedNewestFirst(pages: readonly EventPage[], limit: number): EventPage {
  let border: EventPosition | undefined;
  for (const { next } of pages) if (next && (!border || isNewer(next, border))) border = next;
  const all = pages
    .flatMap(({ events }) => events)
    .filter((event) => !border || !isNewer(border, event))
    .sort((a, b) => (isNewer(a, b) ? -1 : 1));
  const events = all.slice(0, limit);
  const next = all.length > limit ? events.at(-1) : border;
  return { events, next: next && { timeUs: next.timeUs, sequence: next.sequence } };
}

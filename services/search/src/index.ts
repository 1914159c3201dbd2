/**
 * An aggregated API server that searches the objects of all control planes.
 *
 *   service.ts        the composition: read this and search.ts first
 *   api/              the kind Search
 *   query/            the text of a query, and its expressions
 *   document/         the searchable content of an object
 *   feed/             streams of all resources
 *   index-store/      generations of the index, their threads and tables
 *   authorization/    the rights of a caller
 *
 *     const service = await startSearchService({ access, directory: '/var/lib/search', host: '::', port: 8443, log });
 */

export { startSearchService } from './service.ts';
export type { SearchService, SearchServiceOptions } from './service.ts';
export type { Search, SearchResult, SearchSpec, SearchStatus } from './api/search.ts';
export { SearchError } from './errors.ts';

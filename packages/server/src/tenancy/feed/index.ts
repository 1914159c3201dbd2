/**
 * feed: all changes in all control planes, in order, for controllers of the same process (tenant-feed.ts) and of others (http/). Read
 * `contract.ts` first.
 */

export type { FedChange, FedResource, FeedListener } from './contract.ts';
export { TenantFeed } from './tenant-feed.ts';
export type { TenantFeedWorld } from './tenant-feed.ts';
export { FeedStreams } from './http/streams.ts';

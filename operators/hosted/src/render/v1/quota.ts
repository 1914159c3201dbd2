/** The quota of etcd, from the size of its volume. */

const mebibyte = 2 ** 20;
/** etcd suggests no larger quota. */
const quotaBytesMax = 8 * 2 ** 30;
const logBytesMax = 512 * mebibyte;

/** Returns the part of a volume that the log and the snapshots of raft can use. */
export const etcdLogBytes = (volumeBytes: number): number => Math.min(logBytesMax, volumeBytes / 2);

/** Returns `quota-backend-bytes`. A defragmentation needs room for a copy of the database, so it is at most half of the rest of the volume. */
export const etcdQuotaBytes = (volumeBytes: number): number =>
  Math.min(quotaBytesMax, Math.floor((volumeBytes - etcdLogBytes(volumeBytes)) / 2));

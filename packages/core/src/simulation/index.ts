/** The worlds that tests inject: virtual time, a disk that crashes, a network that is cut. */

export { Scheduler } from './scheduler.ts';
export { VirtualDisk } from './virtual-disk.ts';
export type { VirtualDiskOptions } from './virtual-disk.ts';
export { VirtualNetwork } from './virtual-network.ts';
export type { VirtualNetworkOptions } from './virtual-network.ts';

/** Many clusters: see `contract.ts`. */

export type * from './contract.ts';

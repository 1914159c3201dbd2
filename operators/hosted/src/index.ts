/**
 * The operator of hosted control planes: a control-plane provider of Cluster API, which also works without Cluster API.
 *
 *   api/   types, kinds and names; the definitions are generated from them
 */

export * from './api/index.ts';
export { definitions } from './api/generated/index.ts';

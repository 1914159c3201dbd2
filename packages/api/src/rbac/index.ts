/**
 * Rules of roles, and the aggregation of ClusterRoles:
 *
 *     const aggregation = new RoleAggregation();
 *     const { outdated, refused } = await inSlices(new Slicer(clock), aggregation.update(roles));
 */

export { aggregationLimits, RoleAggregation } from './role-aggregation.ts';
export type { AggregationLimits, AggregationResult, OutdatedRole, RefusedRole } from './role-aggregation.ts';
export { readClusterRole } from './cluster-role.ts';
export type { ClusterRoleView } from './cluster-role.ts';
export { ruleText, sameRules } from './rules.ts';
export type { PolicyRule } from './rules.ts';

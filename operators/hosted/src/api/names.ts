/** Group, version, labels and annotations of the hosted control planes and of Cluster API. */

export const group = 'controlplane.cluster.x-k8s.io';
export const apiVersion = `${group}/v1alpha1`;

/**
 * The addon that is built in: what makes a new control plane pleasant without deciding anything for its owner. See README.md.
 */

export const starter = `
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: kplane-system
  name: welcome
data:
  README: |
    This control plane is a separate Kubernetes API: namespaces, RBAC, custom resources and service accounts
    work as in any cluster. Nothing runs pods here until nodes join or a workload service is registered.
    Namespace kplane-system is managed by the platform. ConfigMap kplane-system/addons lists the objects of its addons.
`;

/** The kind HostedControlPlaneTemplate: the settings of the hosted control planes of a ClusterClass. */

import type { ApiObject } from '@hangar/client';
import type { HostedControlPlaneInlineSpec } from './hosted-control-plane.ts';

/**
 * Template of the HostedControlPlanes that a ClusterClass creates.
 *
 * @shortName hcpt
 * @category cluster-api
 * @label cluster.x-k8s.io/provider control-plane-hosted-control-plane
 * @label cluster.x-k8s.io/v1beta1 v1alpha1
 * @label cluster.x-k8s.io/v1beta2 v1alpha1
 * @column Age date .metadata.creationTimestamp
 */
export interface HostedControlPlaneTemplate extends ApiObject {
  /** Desired state. */
  spec: HostedControlPlaneTemplateSpec;
}

export interface HostedControlPlaneTemplateSpec {
  /** The HostedControlPlane to create, without the fields that the topology of the Cluster determines. */
  template: HostedControlPlaneTemplateResource;
}

export interface HostedControlPlaneTemplateResource {
  /** Metadata of the HostedControlPlane. */
  metadata?: TemplateMetadata;
  /** Settings of the HostedControlPlane. */
  spec: HostedControlPlaneInlineSpec;
}

export interface TemplateMetadata {
  /** Labels of the HostedControlPlane. */
  labels?: Record<string, string>;
  /** Annotations of the HostedControlPlane. */
  annotations?: Record<string, string>;
}

/**
 * The kinds HostedControlPlane and HostedControlPlaneTemplate, with the fields that are used here. Another operator reconciles them; the
 * management cluster need not serve them.
 */

import type { AuthenticationSpec } from '@hangar/client/authentication-configuration';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/runtime';

export const hostedGroup = 'controlplane.cluster.x-k8s.io';
const apiVersion = `${hostedGroup}/v1alpha1`;

/** Without it, the operator of hosted control planes waits for a Cluster of Cluster API. */
export const standaloneAnnotation = 'hosted.hangar.dev/standalone';

/** `true`: no component runs; volumes and Secrets stay. The condition `Stopped` is true when all have ended. */
export const stoppedAnnotation = 'hosted.hangar.dev/stopped';
export const stoppedCondition = 'Stopped';

/** On HostedControlPlanes that get their data by a migration: its id. Without it, etcd would start empty. */
export const replicaOfAnnotation = 'hosted.hangar.dev/replica-of';

export interface HostedSpec {
  version?: string;
  replicas?: number;
  controlPlaneEndpoint?: { readonly host: string; readonly port: number };
  gateway?: { readonly namespace: string; readonly name: string; readonly host?: string };
  frontDoor?: { readonly host?: string };
  authentication?: AuthenticationSpec;
}

export interface HostedControlPlaneObject extends ApiObject {
  spec?: HostedSpec;
  status?: {
    readonly initialization?: { readonly controlPlaneInitialized?: boolean };
    readonly version?: string;
    readonly conditions?: Condition[];
  };
}

export const HostedControlPlane = defineKind<HostedControlPlaneObject>({
  apiVersion,
  kind: 'HostedControlPlane',
  plural: 'hostedcontrolplanes',
  isNamespaced: true,
});

export interface HostedTemplateObject extends ApiObject {
  spec?: {
    readonly template?: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec?: object;
    };
  };
}

export const HostedControlPlaneTemplate = defineKind<HostedTemplateObject>({
  apiVersion,
  kind: 'HostedControlPlaneTemplate',
  plural: 'hostedcontrolplanetemplates',
  isNamespaced: true,
});

/** The longest name of a HostedControlPlane: the names of its pods must be labels. */
export const hostedNameLengthMax = 47;

/** The Secret with the kubeconfig of its administrator, as the contract of Cluster API names it, and the key in it. */
export const hostedKubeconfigName = (name: string): string => `${name}-kubeconfig`;
export const hostedKubeconfigKey = 'value';

/** Network of the cluster IPs of services, if there is no Cluster that sets another one. */
export const hostedServiceCidr = '10.96.0.0/12';

/** Addons that the operator of hosted control planes installs itself. */
export const hostedAddons: readonly string[] = ['coredns', 'kube-proxy', 'konnectivity-agent'];

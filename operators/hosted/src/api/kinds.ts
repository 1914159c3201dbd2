/** The two kinds as values, for clients. */

import { defineKind } from '@hangar/client';
import type { HostedControlPlane as HostedControlPlaneObject } from './hosted-control-plane.ts';
import type { HostedControlPlaneTemplate as HostedControlPlaneTemplateObject } from './hosted-control-plane-template.ts';
import { apiVersion } from './names.ts';

export const HostedControlPlane = defineKind<HostedControlPlaneObject>({
  apiVersion,
  kind: 'HostedControlPlane',
  plural: 'hostedcontrolplanes',
  isNamespaced: true,
});
export type HostedControlPlane = HostedControlPlaneObject;

export const HostedControlPlaneTemplate = defineKind<HostedControlPlaneTemplateObject>({
  apiVersion,
  kind: 'HostedControlPlaneTemplate',
  plural: 'hostedcontrolplanetemplates',
  isNamespaced: true,
});
export type HostedControlPlaneTemplate = HostedControlPlaneTemplateObject;

/** The four kinds as values, for clients. */

import { defineKind } from '@hangar/client';
import type { ControlPlane as ControlPlaneObject } from './control-plane.ts';
import type { ControlPlaneClass as ControlPlaneClassObject } from './control-plane-class.ts';
import type { ControlPlaneEndpoint as ControlPlaneEndpointObject } from './control-plane-endpoint.ts';
import type { ControlPlaneRegistration as ControlPlaneRegistrationObject } from './control-plane-registration.ts';
import { apiVersion } from './names.ts';

export const ControlPlane = defineKind<ControlPlaneObject>({
  apiVersion,
  kind: 'ControlPlane',
  plural: 'controlplanes',
  isNamespaced: false,
});
export type ControlPlane = ControlPlaneObject;

export const ControlPlaneClass = defineKind<ControlPlaneClassObject>({
  apiVersion,
  kind: 'ControlPlaneClass',
  plural: 'controlplaneclasses',
  isNamespaced: false,
});
export type ControlPlaneClass = ControlPlaneClassObject;

export const ControlPlaneEndpoint = defineKind<ControlPlaneEndpointObject>({
  apiVersion,
  kind: 'ControlPlaneEndpoint',
  plural: 'controlplaneendpoints',
  isNamespaced: false,
});
export type ControlPlaneEndpoint = ControlPlaneEndpointObject;

export const ControlPlaneRegistration = defineKind<ControlPlaneRegistrationObject>({
  apiVersion,
  kind: 'ControlPlaneRegistration',
  plural: 'controlplaneregistrations',
  isNamespaced: false,
});
export type ControlPlaneRegistration = ControlPlaneRegistrationObject;

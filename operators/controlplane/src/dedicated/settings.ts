/**
 * Computes the HostedControlPlane of a control plane: its own settings, else those of its class, else those of the platform; on top of a
 * template. Pure.
 */

import type { AuthenticationSpec } from '@hangar/client/authentication-configuration';
import type { ControlPlaneClass, ControlPlane, DedicatedSpec, TypedReference } from '../api/index.ts';
import type { Verdict } from '../control-plane/world.ts';
import { hostedGroup, HostedControlPlane, HostedControlPlaneTemplate } from './hosted-control-plane.ts';
import type { Exposure } from './exposure.ts';
import type { HostedSpec, HostedTemplateObject } from './hosted-control-plane.ts';

/** Namespace of the templates that `parametersRef` names. */
export const templateNamespace = 'kplane-system';

type Refusal = Verdict & { readonly type: 'Accepted' };

const refused = (reason: string, message: string): Refusal => ({ type: 'Accepted', reason, message });

/** Returns the settings of the control plane, completed from its class. */
export const dedicatedOf = (
  controlPlane: Pick<ControlPlane, 'spec'>,
  ofClass: Pick<ControlPlaneClass, 'spec'> | undefined,
): DedicatedSpec => ({ ...ofClass?.spec?.dedicated, ...controlPlane.spec?.dedicated });

/** Returns why the settings are impossible. */
export function settingsFault({ providerRef, parametersRef }: DedicatedSpec): Verdict | undefined {
  if (providerRef && !isOf(providerRef, HostedControlPlane.kind)) {
    return refused(
      'ProviderNotSupported',
      `spec.dedicated.providerRef has ${shown(providerRef)}: the only provider is kind ${HostedControlPlane.kind} of group ${hostedGroup}`,
    );
  }
  if (parametersRef && !isOf(parametersRef, HostedControlPlaneTemplate.kind)) {
    return refused(
      'ParametersNotSupported',
      `spec.dedicated.parametersRef has ${shown(parametersRef)}: it must be kind ${HostedControlPlaneTemplate.kind} of group ${hostedGroup}`,
    );
  }
  return undefined;
}

const isOf = ({ apiGroup, kind }: TypedReference, wanted: string): boolean =>
  kind === wanted && apiGroup === hostedGroup;

const shown = ({ apiGroup, kind }: TypedReference): string => `kind ${kind} of group "${apiGroup ?? ''}"`;

export const templateMissing = (name: string): Verdict =>
  refused(
    'ParametersNotFound',
    `${HostedControlPlaneTemplate.kind} "${templateNamespace}/${name}" not found: create it, or change spec.dedicated.parametersRef`,
  );

export interface WantedHosted {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: HostedSpec;
}

export interface HostedInputs {
  readonly settings: DedicatedSpec;
  readonly template?: HostedTemplateObject | undefined;
  /** Spec of the existing one. A default that changes later does not upgrade it. */
  readonly existing?: HostedSpec | undefined;
  /** Absent: as the template says. */
  readonly exposure?: Exposure | undefined;
  /** External users. Absent: as the template says. */
  readonly authentication?: AuthenticationSpec | undefined;
  /** Of the platform. */
  readonly defaults: { readonly version: string; readonly replicas?: number | undefined };
}

export function wantedHosted({
  settings,
  template,
  existing,
  exposure,
  authentication,
  defaults,
}: HostedInputs): WantedHosted {
  const { metadata, spec = {} } = template?.spec?.template ?? {};
  const { gateway: _, frontDoor: __, ...unexposed } = spec as HostedSpec;
  const replicas = settings.replicas ?? defaults.replicas;
  return {
    labels: { ...metadata?.labels },
    annotations: { ...metadata?.annotations },
    spec: {
      ...(exposure ? { ...unexposed, ...exposure } : spec),
      version: settings.version ?? existing?.version ?? defaults.version,
      ...(replicas === undefined ? {} : { replicas }),
      ...(authentication ? { authentication } : {}),
    },
  };
}

/**
 * Computes how the API server of a dedicated control plane is exposed. Pure.
 *
 *     spec.endpointRef                                   the address in the endpoint, which the platform team routes to the Service
 *     host name (endpointPolicy, template of the class)  at the Gateway of the class, if it has one; else at the front door
 *     Gateway of the class, no host name                 at the Gateway, with the name that the operator of hosted control planes derives
 *     none of them                                       as the template of the parameters says, else the default of that operator
 *
 * The exposure of a HostedControlPlane cannot change: certificates, kubeconfigs and nodes have its address.
 */

import { isDeepStrictEqual } from 'node:util';
import { builtinProvider } from '../api/index.ts';
import type { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint } from '../api/index.ts';
import { hostnameOf } from '../control-plane/hostname.ts';
import type { Verdict } from '../control-plane/world.ts';
import { httpsUrl } from '../endpoint/resolve.ts';
import { sortedNames } from '../gateway/allowed-names.ts';
import { notAllowedText } from '../gateway/wanted-route.ts';
import type { HostedSpec } from './hosted-control-plane.ts';

export type Exposure = Pick<HostedSpec, 'gateway' | 'frontDoor' | 'controlPlaneEndpoint'>;

export interface ExposureInputs {
  readonly controlPlane: ControlPlane;
  readonly class?: ControlPlaneClass | undefined;
  /** With `spec.endpointRef`: the endpoint that it names. */
  readonly endpoint?: ControlPlaneEndpoint | undefined;
}

/** Returns the desired exposure, empty without a wish, or why it is impossible. */
export function wantedExposure(inputs: ExposureInputs): Exposure | Verdict {
  const { controlPlane, class: ofClass } = inputs;
  const { endpointRef, endpointPolicy } = controlPlane.spec ?? {};
  if (endpointRef) return addressOf(endpointRef.name, inputs.endpoint);
  const provider = endpointPolicy?.provider ?? builtinProvider;
  if (provider !== builtinProvider) {
    const message = `spec.endpointPolicy.provider "${provider}" is not supported in mode Dedicated, where the address belongs to the HostedControlPlane: remove it, or name an endpoint in spec.endpointRef`;
    return refused('EndpointNotSupported', message);
  }
  const host = hostnameOf(controlPlane, ofClass);
  if (host === 'invalid') {
    const message =
      'the host name template does not yield a valid host name for this control plane: change spec.endpointPolicy, or spec.gateway.hostnameTemplate of the class';
    return refused('InvalidHostname', message);
  }
  const gateway = ofClass?.spec?.gateway?.parentRef;
  if (!gateway) return host === undefined ? {} : { frontDoor: { host } };
  const { namespace, name } = gateway;
  if (host === undefined) return { gateway: { namespace, name } };
  const { others } = sortedNames([host], controlPlane, ofClass);
  if (others.length > 0) return refused('HostnameNotAllowed', notAllowedText(others, ofClass!));
  return { gateway: { namespace, name, host } };
}

const defaultPort = 443;

function addressOf(name: string, endpoint: ControlPlaneEndpoint | undefined): Exposure | Verdict {
  if (!endpoint) return pending(`ControlPlaneEndpoint "${name}" not found: create it, or change spec.endpointRef`);
  const { spec, status } = endpoint;
  const fields = ['endpoint', 'externalEndpoint', 'joinEndpoint'] as const;
  const urls = fields.map((field) => httpsUrl(status?.[field] || spec?.[field])).filter((url) => url !== undefined);
  const [first] = urls;
  if (!first)
    return pending(`ControlPlaneEndpoint "${name}" has no address yet: set spec.endpoint, or wait for its provider`);
  if (urls.some(({ pathname, host }) => pathname !== '/' || host !== first.host)) {
    const message = `the addresses of ControlPlaneEndpoint "${name}" are not supported in mode Dedicated: all of them must have the same host and port, and no path`;
    return refused('EndpointNotSupported', message);
  }
  const host = first.hostname.replace(/^\[(.*)\]$/, '$1');
  return { controlPlaneEndpoint: { host, port: first.port === '' ? defaultPort : Number(first.port) } };
}

export interface SettledExposure {
  readonly exposure: Exposure;
  /** The wish differs from the exposure of the existing HostedControlPlane, which stays. */
  readonly isImmutable: boolean;
}

/** `existing`: the spec of the HostedControlPlane. Absent: it does not exist yet. */
export function settledExposure(wanted: Exposure, existing: HostedSpec | undefined): SettledExposure {
  if (!existing) return { exposure: wanted, isImmutable: false };
  const { gateway, frontDoor, controlPlaneEndpoint } = existing;
  const kept = { ...(gateway && { gateway }), ...(frontDoor && { frontDoor }) };
  const address = wanted.controlPlaneEndpoint;
  if (address) {
    const known = controlPlaneEndpoint ?? address;
    return {
      exposure: { ...kept, controlPlaneEndpoint: known },
      isImmutable: known.host !== address.host || known.port !== address.port,
    };
  }
  const hasWish = wanted.gateway !== undefined || wanted.frontDoor !== undefined;
  return { exposure: kept, isImmutable: hasWish && !isDeepStrictEqual(kept, wanted) };
}

const refused = (reason: string, message: string): Verdict => ({ type: 'Accepted', reason, message });
const pending = (message: string): Verdict => ({ type: 'Programmed', reason: 'EndpointPending', message });

/**
 * Step 5 of mode Dedicated: the HostedControlPlane in the management namespace, applied when its desired state changes. Its address and its
 * kubeconfig become those of the control plane. Fields that a user sets on it stay until the next change.
 */

import { find } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import { controllerReference, findCondition, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { ControlPlaneEndpoint, group, labels, labelValue } from '../api/index.ts';
import { authenticationOf } from '../control-plane/authentication.ts';
import { digestOf } from '../control-plane/digest.ts';
import type { Pass, Verdict } from '../control-plane/world.ts';
import { hostedReady } from '../migration/current-mode.ts';
import { settledExposure, wantedExposure } from './exposure.ts';
import type { Exposure } from './exposure.ts';
import { HostedControlPlane, hostedServiceCidr, standaloneAnnotation } from './hosted-control-plane.ts';
import type { HostedControlPlaneObject } from './hosted-control-plane.ts';
import { hostedConfig, hostedPlane } from './hosted-plane.ts';
import { adoptHosted } from './retained.ts';
import { dedicatedOf, settingsFault, templateMissing, wantedHosted } from './settings.ts';
import type { WantedHosted } from './settings.ts';

const fieldManager = 'controlplane-operator';
/** On HostedControlPlanes: digest of the applied object. */
const appliedAnnotation = `${group}/applied`;
const rejectedLookMs = 30_000;

export async function hostedControlPlane(pass: Pass): Promise<Verdict | undefined> {
  const { world, controlPlane, namespace, signal } = pass;
  const name = controlPlane.metadata.name!;
  const there = await world.hosted.find({ namespace, name }, signal);
  const quoted = `HostedControlPlane "${namespace}/${name}"`;
  const adopted = there && (await adoptHosted(pass, there));
  if (adopted) return applied(pass, adopted);
  if (there && !isControlledBy(there, controlPlane)) {
    const message = `${quoted} already exists and does not belong to this control plane: delete it`;
    return pending('HostedControlPlaneConflict', message);
  }
  if (there && isBeingDeleted(there)) {
    const message = `waiting for the deletion of ${quoted} before creating it again`;
    return pending('HostedControlPlaneTerminating', message);
  }
  return applied(pass, there);
}

async function applied(pass: Pass, there: HostedControlPlaneObject | undefined): Promise<Verdict | undefined> {
  const current = await applyChanges(pass, there);
  return 'type' in current ? current : provisioned(pass, current);
}

/** Returns the HostedControlPlane in its desired state. */
async function applyChanges(
  pass: Pass,
  there: HostedControlPlaneObject | undefined,
): Promise<HostedControlPlaneObject | Verdict> {
  const exposure = await exposureOf(pass, there);
  return 'type' in exposure ? exposure : applyWanted(pass, there, exposure);
}

/** Without an exposure, it is exposed as the template says. */
export async function applyWanted(
  pass: Pass,
  there: HostedControlPlaneObject | undefined,
  { exposure }: { readonly exposure?: Exposure | undefined } = {},
): Promise<HostedControlPlaneObject | Verdict> {
  const wanted = await wantedOf(pass, { existing: there, exposure });
  if ('type' in wanted) return wanted;
  const isCurrent = there?.metadata.annotations?.[appliedAnnotation] === digestOf(wanted);
  return isCurrent ? there : apply(pass, wanted);
}

type WantedInputs = Pick<Pass, 'controlPlane' | 'class' | 'signal'> & {
  readonly world: Pick<Pass['world'], 'hosted' | 'dedicated'>;
};

export async function wantedOf(
  { controlPlane, class: ofClass, world, signal }: WantedInputs,
  given: {
    readonly existing?: HostedControlPlaneObject | undefined;
    readonly exposure?: Exposure | undefined;
  } = {},
): Promise<WantedHosted | Verdict> {
  const { existing, exposure } = given;
  const settings = dedicatedOf(controlPlane, ofClass);
  const fault = settingsFault(settings);
  if (fault) return fault;
  const { parametersRef } = settings;
  const template = parametersRef && (await world.hosted.template(parametersRef.name, signal));
  if (parametersRef && !template) return templateMissing(parametersRef.name);
  const defaults = { version: await world.dedicated.version(), replicas: world.dedicated.replicas };
  const authentication = authenticationOf({ controlPlane, class: ofClass });
  return wantedHosted({ settings, template, existing: existing?.spec, exposure, authentication, defaults });
}

async function exposureOf(
  pass: Pass,
  existing: HostedControlPlaneObject | undefined,
): Promise<{ readonly exposure: Exposure | undefined } | Verdict> {
  const { controlPlane, class: ofClass } = pass;
  const wish = wantedExposure({ controlPlane, class: ofClass, endpoint: await endpointOf(pass) });
  if ('type' in wish) return wish;
  const { exposure, isImmutable } = settledExposure(wish, existing?.spec);
  remarkExposure(pass, isImmutable);
  // Without a wish, a new one is exposed as the template says.
  const isGiven = existing !== undefined || Object.keys(exposure).length > 0;
  return { exposure: isGiven ? exposure : undefined };
}

async function endpointOf({ client, controlPlane, signal }: Pass): Promise<ControlPlaneEndpoint | undefined> {
  const name = controlPlane.spec?.endpointRef?.name;
  return name === undefined ? undefined : find(client, ControlPlaneEndpoint, { name }, { signal });
}

const endpointApplied = 'EndpointApplied';

function remarkExposure({ remarks, withdrawn }: Pass, isImmutable: boolean): void {
  if (!isImmutable) {
    withdrawn.push(endpointApplied);
    return;
  }
  const message =
    'the address of an existing dedicated control plane cannot change, so it keeps the earlier one: revert spec.endpointRef, spec.endpointPolicy or spec.gateway of the class, or create another control plane';
  remarks.push({ type: endpointApplied, status: false, reason: 'EndpointImmutable', message, isAwaited: true });
}

/** The HostedControlPlane as it is applied. */
export function hostedObject(
  { controlPlane, namespace }: Pick<Pass, 'controlPlane' | 'namespace'>,
  wanted: WantedHosted,
) {
  const name = controlPlane.metadata.name!;
  const metadata = {
    namespace,
    name,
    labels: { ...wanted.labels, [labels.name]: labelValue(name) },
    annotations: { ...wanted.annotations, [standaloneAnnotation]: 'true', [appliedAnnotation]: digestOf(wanted) },
    ownerReferences: [controllerReference(controlPlane)],
  };
  return { metadata, spec: wanted.spec };
}

async function apply(pass: Pass, wanted: WantedHosted): Promise<HostedControlPlaneObject | Verdict> {
  const { client, controlPlane, namespace, world, signal } = pass;
  const name = controlPlane.metadata.name!;
  const object = hostedObject(pass, wanted);
  try {
    return await world.writes.make('hosted-control-plane', () =>
      client.apply(HostedControlPlane, object, { fieldManager, force: true, signal }),
    );
  } catch (error) {
    if (!hasCode(error, 'Invalid')) throw error;
    // The server's message names the field and the reason.
    const message = `the server rejected HostedControlPlane "${namespace}/${name}": ${asError(error).message}`;
    return { ...pending('HostedControlPlaneRejected', message), lookAgainMs: rejectedLookMs };
  }
}

async function provisioned(pass: Pass, hosted: HostedControlPlaneObject): Promise<Verdict | undefined> {
  const ready = findCondition(hosted.status?.conditions, 'Ready');
  const { controlPlaneEndpoint } = hosted.spec ?? {};
  const isInitialized = hosted.status?.initialization?.controlPlaneInitialized === true;
  const config = isInitialized && controlPlaneEndpoint ? await hostedConfig(pass) : undefined;
  if (!config) {
    const why = ready ? `${ready.reason}: ${ready.message}` : 'its operator has not reconciled it yet';
    return pending('HostedControlPlanePending', `the HostedControlPlane is not initialized yet: ${why}`);
  }
  const { host, port } = controlPlaneEndpoint!;
  const join = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  pass.addresses = { internal: config.server, external: config.server, join };
  pass.plane = hostedPlane(pass, hosted, config);
  pass.nodes = {
    endpoint: join,
    ca: config.ca ?? '',
    serviceCidr: hostedServiceCidr,
    approvesServingCertificates: false,
  };
  pass.isJoinWanted = true;
  const isReady = ready?.status === 'True';
  const { reason = 'Pending', message = '' } = ready ?? {};
  pass.remarks.push({ type: hostedReady, status: isReady, reason, message, isAwaited: true });
  pass.deferred = unavailable(hosted);
  return undefined;
}

/** An upgrade makes Ready false, but not Available. */
export function unavailable({ status }: HostedControlPlaneObject): Verdict | undefined {
  const available = findCondition(status?.conditions, 'Available');
  if (available?.status !== 'False') return undefined;
  const message = `no API server of the HostedControlPlane is available: ${available.reason}: ${available.message}`;
  return { type: 'Ready', reason: 'HostedControlPlaneUnavailable', message };
}

const pending = (reason: string, message: string): Verdict => ({ type: 'Programmed', reason, message });

/** The current webhooks of a control plane, in the order of their calls. */

import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import type { AdmissionRequest } from '../admission.ts';
import { forbid } from '../refusal.ts';
import { webhooksOf } from './configuration.ts';
import type { Webhook } from './configuration.ts';

const group = 'admissionregistration.k8s.io';

/** Admission configurations are exempt from webhooks: otherwise a webhook that denies everything could not be removed. */
const exempt = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

export const isExempt = ({ resource }: AdmissionRequest): boolean =>
  resource.group === group && exempt.has(resource.name);

const none: readonly Webhook[] = [];

export class WebhookSource {
  readonly #followed: Followed<readonly Webhook[]>;
  #ordered: readonly Webhook[] | undefined;

  constructor(plane: ControlPlane, kind: 'mutating' | 'validating') {
    const resource = { group, version: 'v1', resource: `${kind}webhookconfigurations` };
    const forget = (): void => void (this.#ordered = undefined);
    this.#followed = new Followed(plane, resource, (object) => webhooksOf(object, kind === 'mutating'), forget);
  }

  /** Returns the webhooks that may match this request. Synchronous after the configurations were read. */
  for(request: AdmissionRequest): readonly Webhook[] | Promise<readonly Webhook[]> {
    if (isExempt(request)) return none;
    return this.#followed.all ? this.#inOrder() : this.#read(request);
  }

  close(): void {
    this.#followed.close();
  }

  /** Sorted by the names of their configurations, then in the order of the list. */
  #inOrder(): readonly Webhook[] {
    return (this.#ordered ??= [...this.#followed.all!]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, webhooks]) => webhooks));
  }

  async #read(request: AdmissionRequest): Promise<readonly Webhook[]> {
    try {
      await this.#followed.ready();
    } catch (error) {
      throw Object.assign(forbid(request, 'not yet ready to handle request'), { cause: error });
    }
    return this.#inOrder();
  }
}

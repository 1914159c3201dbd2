/** Sets the default IngressClass, if one exists, on Ingresses that name no class. */

import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { defaultable, defaultClassOf } from './default-class.ts';

interface Ingress extends KubeObject {
  spec?: { ingressClassName?: string | null };
}

const ingressClasses = { group: 'networking.k8s.io', version: 'v1', resource: 'ingressclasses' };
const isDefault = ['ingressclass.kubernetes.io/is-default-class'];
/** Predates the field `ingressClassName` and is still supported. */
const classAnnotation = 'kubernetes.io/ingress.class';

export function defaultIngressClass(plane: ControlPlane): AdmissionPlugin {
  const followed = new Followed(plane, ingressClasses, (object) => defaultable(object, isDefault));
  return {
    name: 'DefaultIngressClass',
    resources: new Set(['networking.k8s.io/ingresses']),
    async mutate({ operation, subresource, object }) {
      if (operation !== 'CREATE' || subresource !== '') return;
      const ingress = object as Ingress;
      const { ingressClassName } = ingress.spec ?? {};
      if (ingressClassName !== undefined && ingressClassName !== null) return;
      if (ingress.metadata.annotations?.[classAnnotation] !== undefined) return;
      const name = defaultClassOf((followed.all ?? (await followed.ready())).values());
      if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
    },
    close: () => followed.close(),
  };
}

/** The kubeconfig, and how long its certificates count. */

import { X509Certificate } from 'node:crypto';
import type { ClusterConfig } from '@hangar/client';
import { explain } from '../../explain.ts';
import { platformConfig } from '../../platform.ts';
import { bad, good } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import { lifeOf } from '../life.ts';

export const credentials: Check = {
  name: 'kubeconfig',
  async look(world) {
    const { session, given, platform } = world;
    let config: ClusterConfig;
    try {
      config = await platformConfig(session, given);
    } catch (error) {
      const { message = 'cannot be read', next } = explain(error);
      return [bad(`kubeconfig: ${message}`, next)];
    }
    world.config = config;
    const now = session.clock.now();
    const own = await config.credentials?.clientCertificate?.(session.signal);
    return [
      good(`kubeconfig ${platform.shown} for ${config.server}`),
      ...certificates('the CA in the kubeconfig', config.ca, now),
      ...certificates('your certificate', own?.certificate, now),
    ];
  },
};

const renewing = 'restart Hangar to renew it, and use the new kubeconfig';

function certificates(what: string, pem: string | undefined, now: number): Finding[] {
  const all = pem?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return all.map((one) => {
    const { validFromDate, validToDate } = new X509Certificate(one);
    return lifeOf(what, { from: validFromDate.getTime(), to: validToDate.getTime(), now, next: renewing });
  });
}

/** `hangar credential NAME`: prints the credential of a control plane for kubectl, as an exec plugin. */

import { accessOf } from '../control-planes/access.ts';
import { cacheCertificate, cachedCertificate, cacheFile, renewalOf } from '../control-planes/credential-cache.ts';
import { findControlPlane } from '../control-planes/find.ts';
import { userCertificate } from '../control-planes/user-certificate.ts';
import type { UserCertificate, WantedUser } from '../control-planes/user-certificate.ts';
import type { Call, Command } from '../command.ts';
import { ownCredential } from '../control-planes/project-access.ts';
import { usage } from '../errors.ts';
import { Project } from '../kinds.ts';
import type { Access } from '../kubeconfig/access.ts';
import { execVersion } from '../kubeconfig/exec-entry.ts';
import { platformConfig } from '../platform.ts';
import { userOptions, wantedUser } from './common/wanted-user.ts';
import { served } from './projects/served.ts';

export const credential: Command = {
  name: 'credential',
  summary: 'print a credential of a control plane for kubectl (exec plugin)',
  description:
    'Prints an ExecCredential of client.authentication.k8s.io/v1. "hangar kubeconfig NAME --exec" writes a kubeconfig that runs this command. Without --user it prints the current credential of the administrator, which the operator renews. With --user it issues a client certificate, keeps it in a file that only you can read, and issues the next one when a fifth of its lifetime is left. With --project NAME is a project, and it prints your current credential at the management plane, which the control planes of your projects accept; it requires no rights on control planes.',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    ...userOptions,
    { name: 'project', meaning: 'print your own credential, for a project of your organization' },
  ],
  examples: [
    'credential demo',
    'credential shop --project',
    'credential demo --user jane --group dev,ops --expires 8h',
  ],
  isConnected: true,
  async run(call) {
    const wanted = wantedUser(call.given);
    const status = call.given.flag('project')
      ? await own(call, wanted)
      : wanted
        ? certificateStatus(await issued(call, wanted))
        : await administrator(call);
    call.session.out.write(`${JSON.stringify({ apiVersion: execVersion, kind: 'ExecCredential', status })}\n`);
  },
};

/** The operator renews the credential in the Secret long before it expires: kubectl reads it again after this time. */
const administratorMs = 3_600_000;

async function administrator({ session, given, client }: Call): Promise<object> {
  const { signal, clock } = session;
  const connected = await client();
  const plane = await findControlPlane(connected, given.args[0]!, signal);
  const { user } = await accessOf(connected, plane, { isExternal: false, signal });
  const untilMs = clock.now() + administratorMs;
  const { token } = user;
  if (token !== undefined) return { token, expirationTimestamp: new Date(untilMs).toISOString() };
  const { clientCertificateData, clientKeyData, expirationTimestamp } = certificateStatus(pairOf(user));
  const earlier = new Date(Math.min(untilMs, Date.parse(expirationTimestamp))).toISOString();
  return { clientCertificateData, clientKeyData, expirationTimestamp: earlier };
}

/** The credential may be renewed at any time: kubectl runs the command again after this time. */
const ownMs = 300_000;

async function own({ session, given, client }: Call, wanted: WantedUser | undefined): Promise<object> {
  if (wanted) throw usage('--project and --user cannot be used together');
  const { signal, clock } = session;
  const name = given.args[0]!;
  // A former member gets no credential.
  await served((await client()).get(Project, { name }, { signal }), name);
  const user = await ownCredential(await platformConfig(session, given), signal);
  const expirationTimestamp = new Date(clock.now() + ownMs).toISOString();
  if (user['token'] !== undefined) return { token: user['token'], expirationTimestamp };
  const { certificate, key } = pairOf(user);
  return { clientCertificateData: certificate, clientKeyData: key, expirationTimestamp };
}

const pairOf = (user: Access['user']): UserCertificate => ({
  certificate: Buffer.from(user['client-certificate-data'] ?? '', 'base64').toString(),
  key: Buffer.from(user['client-key-data'] ?? '', 'base64').toString(),
});

async function issued({ session, given, client }: Call, wanted: WantedUser): Promise<UserCertificate> {
  const { signal } = session;
  const connected = await client();
  // A user who may no longer read the control plane gets no cached credential either.
  const plane = await findControlPlane(connected, given.args[0]!, signal);
  const file = cacheFile(session, plane.metadata.uid!, wanted);
  const known = await cachedCertificate(session, file);
  if (known) return known;
  const made = await userCertificate(session, { client: connected, plane, wanted });
  await cacheCertificate(file, made);
  return made;
}

const certificateStatus = ({ certificate, key }: UserCertificate) => ({
  clientCertificateData: certificate,
  clientKeyData: key,
  expirationTimestamp: new Date(renewalOf(certificate)).toISOString(),
});

import { randomBytes } from 'node:crypto';
import { deviceProofHeader, deviceProofType, signinFlowHeader } from '@latchkey/contracts';
import { generateSync } from 'otplib';
import { signJws } from '../../signin-browser.ts';
import type { Authenticator } from '../passkeys.ts';
import type { Reply } from '../wire.ts';
import { type Action, type Draft, type Site, sha256 } from './draft.ts';
import type { Party } from './party.ts';

/** The steps of the hosted page. */
export function signinFlows(site: Site, authenticatorOf: (party: Party) => Authenticator): Record<string, Action> {
  const { world, project, values } = site;

  const afterStatus: Record<string, string> = {
    ...{ SUCCESS: 'resume', MFA_REQUIRED: 'initiate-mfa', DEVICE_REGISTERED: 'authenticate' },
    ...{ OTP_NEEDED: 'verify-email-otp', PASSKEY_ENROLLMENT_NEEDED: 'passkey-creation' },
  };
  const isOfConsole = (flow: string | undefined) => values.of('flow', flow)?.with['console'] !== undefined;

  function afterStep(by: Party, { json }: Reply, sent: Record<string, string>): string | undefined {
    const next = afterStatus[json['status']];
    // The console's application is not one of the walk.
    if (isOfConsole(sent['@flow'])) return next === 'resume' ? 'authorize' : next;
    if (json['passkey_offer'] === true && world.model.step % 2 === 0) return 'passkey-creation';
    const isLost = json['status'] === 'MFA_REQUIRED' && isRecovering(by);
    return isLost ? 'verify-mfa' : next;
  }

  function step(
    party: Party,
    name: string,
    fields: Draft['fields'],
    learn: (by: Party, reply: Reply, sent: Record<string, string>) => string | undefined = afterStep,
  ): Draft {
    const isProved = /^(authenticate|verify-device|initiate-mfa|verify-mfa)$/.test(name);
    const txn = name === 'challenge' ? undefined : party.last('txn');
    const flow = txn?.with['flow'] ?? party.last('flow')?.text;
    return {
      ...{ method: 'POST', path: `/v1/signin/${name}`, as: 'json' },
      fields: { ...(txn && { txn: ['txn', txn.text] }), ...fields, '@flow': ['flow', flow] },
      headers: (sent) => ({
        [signinFlowHeader]: sent['@flow'] ?? '',
        ...(isProved && { [deviceProofHeader]: prove(party, name, sent) }),
      }),
      learn: (by, reply, sent) => {
        site.keep(by, { mfa: reply.json['session_id'], flow: sent['@flow'] }, { txn: sent['txn'] });
        return learn(by, reply, sent);
      },
    };
  }

  function prove(party: Party, act: string, sent: Record<string, string>): string {
    const flow = values.of('flow', sent['@flow'])?.with ?? {};
    const named = act === 'verify-device' ? { jwk: party.key.jwk } : { kid: party.key.jkt };
    const claims = {
      ...{ act, aud: `${world.issuer}/${flow['console'] ?? project.id}`, cid: flow['client'] },
      ...{ org: world.issuer, txn: sent['txn'], nonce: party.nonce, bh: sha256(bodyOf(sent)) },
      ...{ iat: Math.floor(world.now() / 1000), jti: randomBytes(16).toString('base64url') },
    };
    return signJws({ typ: deviceProofType, alg: 'ES256', ...named }, claims, party.key);
  }

  const byUser = (party: Party): Draft['fields'] => ({ userid: ['address', party.address] });

  /** Asks for a challenge, and answers it by the party's passkey, or with a new one. */
  const options = (party: Party, purpose: 'registration' | 'sign_in', next: string): Draft =>
    step(party, 'passkey-options', { purpose: ['', purpose] }, (by, reply, sent) => {
      site.keep(by, { [purpose]: JSON.stringify(reply.json['options']) }, { txn: sent['txn'] });
      return next;
    });

  const answer = (party: Party, isNew: boolean): Draft['fields'] => {
    const last = party.last(isNew ? 'registration' : 'sign_in');
    if (!last || last.isSpent) return {};
    last.isSpent = true;
    const json = JSON.parse(last.text);
    const authenticator = authenticatorOf(party);
    const id = authenticator.soft.credentials.at(-1)?.id;
    const asked = { challenge: json.challenge, json, purpose: isNew ? 'registration' : 'sign-in' } as const;
    if (!isNew && id === undefined) return {};
    const { credential } = isNew
      ? authenticator.create(asked, world.issuer)
      : authenticator.get(asked, world.issuer, id as string);
    const text = JSON.stringify(credential);
    site.keep(party, { credential: text }, last.with);
    return { credential: ['credential', text] };
  };

  return {
    challenge: (party) =>
      step(party, 'challenge', { jkt: ['', party.key.jkt] }, (by, reply, sent) => {
        site.keep(by, { txn: reply.json['txn'] }, { flow: sent['@flow'], key: sent['jkt'] });
        const hasPasskey = authenticatorOf(by).soft.credentials.length > 0 && !isOfConsole(sent['@flow']);
        return hasPasskey && world.model.step % 2 === 0 ? 'passkey-sign-in' : 'authenticate';
      }),
    authenticate: (party, dice) =>
      step(party, 'authenticate', {
        ...byUser(party),
        ...(!isRecovering(party) && dice.next() < 0.2 && { step_up: ['', 'create_passkey'] }),
      }),
    'verify-email-otp': (party) =>
      step(
        party,
        'verify-email-otp',
        { ...byUser(party), otp: ['otp', party.last('otp')?.text] },
        () => 'verify-device',
      ),
    'verify-device': (party, dice) =>
      step(party, 'verify-device', { ...byUser(party), ...(dice.next() < 0.3 && { mfa_method: ['', 'totp'] }) }),
    'initiate-mfa': (party) =>
      step(
        party,
        'initiate-mfa',
        { ...byUser(party), session_id: ['mfa', party.last('mfa')?.text] },
        (by, reply, sent) => {
          const kind = isOfConsole(sent['@flow']) ? 'secret-of-console' : 'secret';
          site.keep(by, { [kind]: reply.json['totp']?.secret }, { txn: sent['txn'] });
          return 'verify-mfa';
        },
      ),
    'verify-mfa': (party, dice) => {
      const isAdmin = isOfConsole(party.last('txn')?.with['flow']);
      const recovery = party.last('recovery');
      if (recovery && !isAdmin && (isRecovering(party) || dice.next() < 0.2))
        return step(party, 'verify-mfa', { ...byUser(party), otp: ['recovery', recovery.text] });
      const secret = party.last(isAdmin ? 'secret-of-console' : 'secret')?.text;
      const otp = secret ? generateSync({ secret, epoch: Math.floor(world.now() / 1000) }) : '000000';
      site.keep(party, { totp: otp });
      return step(party, 'verify-mfa', { ...byUser(party), otp: ['totp', otp] });
    },
    'passkey-sign-in': (party) => options(party, 'sign_in', 'verify-passkey'),
    'passkey-creation': (party) => options(party, 'registration', 'register-passkey'),
    'verify-passkey': (party) => step(party, 'verify-passkey', answer(party, false)),
    'register-passkey': (party) => step(party, 'register-passkey', answer(party, true), () => 'resume'),
  };
}

/** Whether the user is to sign in by the code of a recovery. */
function isRecovering(party: Party): boolean {
  return party.isRetrying || party.last('recovery')?.isSpent === false;
}

/** The JSON body of a step. */
export function bodyOf(sent: Record<string, string>): string {
  const rest = Object.entries(sent).filter(([name]) => !name.startsWith('@'));
  return JSON.stringify(Object.fromEntries(rest.map(([name, value]) => [name, jsonOf(value)])));
}

/** The answer of an authenticator is an object. */
function jsonOf(value: string): unknown {
  return value.startsWith('{') ? JSON.parse(value) : value;
}

import type { Change, Row } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';
import { demand } from '../model.ts';
import { type Done, type Site, sha256 } from './draft.ts';
import { claimsOf, type Party, partyNamed, type Seen } from './party.ts';

/** The answer of a person to a device that waits for it. */
interface Decision {
  by: Party;
  step: number;
  session: string;
  isAllowed: boolean;
}

/**
 * Tokens of a user come only from a code that a browser got after its user proved themself there and consented, or from a
 * device that the user allowed; once for each code; for the client, address, verifier and key of the request; while the user's
 * access lasts.
 */
export class TokenRules extends Restorable {
  /** Decisions by device code. */
  private readonly decisions = new Map<string, Decision>();
  private readonly used = new Set<string>();
  /** Rows of refresh grants. */
  private readonly grants = new Map<string, Row>();
  private lastGrant = '';

  constructor(
    private readonly site: Site,
    private readonly parties: readonly Party[],
    private readonly isLive: (session: string | undefined) => boolean,
  ) {
    super();
  }

  note({ table, new: row, old }: Change): void {
    if (table !== 'refresh_grants') return;
    const id = (row ?? old)?.['id'];
    this.grants.set(id, row ?? { revoked_at: 'deleted' });
    this.lastGrant = id;
  }

  /** A person answered on the approval page. */
  decided(by: Party, fields: Record<string, string>): void {
    const { values, world } = this.site;
    const user = values.of('flow', fields['flow'])?.with['user-code'];
    const device = values.of('user-code', user)?.with['device-code'];
    const isAllowed = fields['decision'] === 'allow';
    if (device) this.decisions.set(device, { by, step: world.model.step, session: by.session, isAllowed });
  }

  /** The user of the grant, token or hint that a request presents, or whom a back end names. */
  presented(fields: Record<string, string>): string | undefined {
    const { values } = this.site;
    // A back end names the user.
    if (fields['@op'] !== undefined) return partyNamed(this.parties, fields['userid'])?.user;
    const device = this.decisions.get(fields['device_code'] ?? '');
    const seen =
      values.of('code', fields['code']) ??
      values.of('refresh', fields['refresh_token'] ?? fields['token']) ??
      values.of('access', fields['@access']) ??
      values.of('id-token', fields['id_token_hint']);
    return device ? device.by.user : seen?.with['user'];
  }

  /** @param wasLive whether the browser had a live session before */
  check(done: Done, effects: readonly Change[], wasLive: boolean): void {
    const { fields, name, party, reply } = done;
    if (reply.json['access_token'] !== undefined) this.gave(done);
    if (name === 'userinfo') this.userInfo(done);
    const revoked = this.site.values.of('refresh', fields['token']);
    if (name === 'revoke' && done.changes.length > 0)
      demand(revoked?.with['client'] === fields['client_id'], `${party.name} revoked a token of another client`);
    if (name === 'end-session' && effects.length > 0 && fields['id_token_hint'] !== undefined && wasLive)
      demand(this.presented(fields) === party.user, `${party.name} ended sessions by the hint of another user`);
  }

  private gave({ party, name, fields, reply }: Done): void {
    const what = `${name} gave ${party.name} tokens`;
    const { access_token: access, scope = '', refresh_token: refresh } = reply.json;
    const { sub, client_id: client, cnf } = claimsOf(access);
    const owner = this.parties.find(({ user }) => user === sub);
    demand(owner && sub === this.presented(fields), `${what} of another user`);
    demand(this.site.world.model.user(sub)['active'], `${what} of a deactivated user`);
    demand(client === undefined || client === fields['client_id'], `${what} for another client`);
    demand(cnf?.jkt === fields['@dpop'], `${what} for another key`);
    const of = this.granted(name, fields, what);
    demand(owner.endedStep < of.step, `${what} from access that an admin had ended`);
    demand(of.with['client'] === fields['client_id'], `${what} of another application`);
    const isBound = this.site.clients.some(({ id, isDpopBound }) => id === fields['client_id'] && isDpopBound);
    demand(!isBound || fields['@dpop'] !== undefined, `${what} without a proof of the key`);
    demand(of.with['dpop'] === undefined || of.with['dpop'] === fields['@dpop'], `${what} of another key`);
    const scopes = of.with['scope']?.split(' ');
    demand(
      scopes === undefined || scope.split(' ').every((one: string) => scopes.includes(one)),
      `${what} of more scope`,
    );
    const isOffline = scopes?.includes('offline_access') ?? false;
    demand(
      isOffline || of.with['session'] === undefined || this.isLive(of.with['session']),
      `${what} after the session ended`,
    );
    const grant = name === 'refresh' ? of.with['grant'] : this.lastGrant;
    if (name === 'refresh') demand(!this.grants.get(grant ?? '')?.['revoked_at'], `${what} of a revoked grant`);
    for (const kept of [refresh, access]) if (kept && grant) this.grantOf.set(kept, grant);
  }

  /** Grants by token. */
  readonly grantOf = new Map<string, string>();

  /** The code, refresh token or decision that the tokens are for. */
  private granted(name: string, fields: Record<string, string>, what: string): Pick<Seen, 'step' | 'with'> {
    const { values } = this.site;
    const code = fields['code'] ?? fields['device_code'] ?? '';
    if (name !== 'refresh') {
      demand(!this.used.has(code), `${what} for a code twice`);
      this.used.add(code);
    }
    if (name === 'device-poll') {
      const decision = this.decisions.get(code);
      demand(decision?.isAllowed, `${what} for a device that no user allowed`);
      const of = values.of('device-code', code);
      return { step: decision.step, with: { ...of?.with, session: decision.session } };
    }
    const seen = values.of(
      name === 'refresh' ? 'refresh' : 'code',
      fields[name === 'refresh' ? 'refresh_token' : 'code'],
    );
    demand(seen, `${what} for an unknown value`);
    if (name === 'refresh') return { ...seen, with: { ...seen.with, grant: this.grantOf.get(seen.text) ?? '' } };
    demand(seen.with['challenge'] === sha256(fields['code_verifier'] ?? ''), `${what} with another verifier`);
    demand(seen.with['redirect'] === fields['redirect_uri'], `${what} with another address`);
    return seen;
  }

  private userInfo({ party, fields, reply }: Done): void {
    const what = `UserInfo answered ${party.name}`;
    const seen = this.site.values.of('access', fields['@access']);
    demand(seen, `${what} to a value that is not an access token`);
    const owner = this.parties.find(({ user }) => user === seen.with['user']);
    demand(owner && reply.json['sub'] === owner.user, `${what} about another user`);
    demand(owner.endedStep < seen.step, `${what} from access that an admin had ended`);
    demand(seen.with['dpop'] === fields['@dpop'], `${what} without a proof of the key`);
    demand(
      !this.grants.get(this.grantOf.get(seen.text) ?? '')?.['revoked_at'],
      `${what} to a token of a revoked grant`,
    );
  }
}

import { type DeviceKey, newDeviceKey } from '../../signin-browser.ts';
import { Browser } from '../browsers.ts';
import type { Row } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';

/** A value that parties have seen. */
export interface Seen {
  kind: string;
  text: string;
  /** The party that saw it first. */
  of: Party;
  /** Step at which it was seen last. */
  step: number;
  /** Values that belong to it, by kind: the verifier of a code, the user code of a device code. */
  with: Record<string, string>;
  /** Whether an accepted request used it. */
  isSpent: boolean;
}

/** Every value that any party has seen, by kind and text. */
export class Values extends Restorable {
  readonly all = new Map<string, Seen>();

  of(kind: string, text: string | undefined): Seen | undefined {
    return this.all.get(`${kind} ${text}`);
  }

  /** Keeps a value that a party has seen. The first one decides what belongs to it. */
  keep(of: Party, kind: string, text: unknown, step: number, belongs: Record<string, string | undefined> = {}): void {
    if (typeof text !== 'string' || text === '') return;
    const given = Object.entries(belongs).filter((one): one is [string, string] => one[1] !== undefined);
    const known = this.of(kind, text);
    const seen = known ?? { kind, text, of, step, with: Object.fromEntries(given), isSpent: false };
    seen.step = step;
    this.all.delete(`${kind} ${text}`);
    this.all.set(`${kind} ${text}`, seen);
    of.held.delete(seen);
    of.held.add(seen);
  }
}

/** A user with an account, or a visitor without one. */
export class Party extends Restorable {
  browser: Browser;
  /** Values that they have seen, oldest first. */
  readonly held = new Set<Seen>();
  user = '';
  /** The user name of this user: a former address, if a directory has set it. */
  userName = '';
  /** The next action of an honest user. */
  next = 'authorize';
  /** Flows that followed tokens. */
  turn = 0;
  mustWait = false;
  isRevoked = false;
  /** Whether they try the code of their last recovery again. */
  isRetrying = false;
  key!: DeviceKey;
  dpop!: DeviceKey;
  nonce = '';
  /** Id of the session of the browser's cookie. */
  session = '';
  /** Step of the last action by which an admin ended the user's open work. */
  endedStep = -1;
  /** Their users in the project of the console. */
  readonly admins = new Set<string>();
  /** The setup link that their browser opened last. */
  setupLink: string | undefined;
  /** Third-party clients that the user allowed. */
  readonly consents = new Set<string>();
  /** Every value that they ever sent, which replies may repeat. */
  readonly sent = new Set<string>();

  private constructor(
    readonly name: string,
    public address: string,
    readonly ip: string,
    readonly index: number,
  ) {
    super();
    this.browser = new Browser(index, ip);
  }

  static async of(name: string, address: string, index: number, ip: string): Promise<Party> {
    const party = new Party(name, address, ip, index);
    await party.renewKey();
    party.dpop = await newDeviceKey();
    party.userName = address;
    return party;
  }

  async renewKey(): Promise<void> {
    this.key = await newDeviceKey();
    this.isRevoked = false;
  }

  /** A browser without cookies. */
  renewBrowser(): void {
    this.browser = new Browser(this.index, this.ip);
  }

  /** Whether it is their user, in the project or in that of the console. */
  is(user: string | null): boolean {
    return user !== null && (user === this.user || this.admins.has(user));
  }

  last(kind: string): Seen | undefined {
    return [...this.held].findLast((one) => one.kind === kind);
  }
}

/** The party that a back end names, by address, user name or id. */
export function partyNamed(parties: readonly Party[], userid: string | undefined): Party | undefined {
  return parties.find(({ address, user, userName }) => [address, userName, user].includes(userid ?? ''));
}

/** The other one of a user's two mailboxes. */
export function otherMailbox(address: string): string {
  return address.replace(/^(\w+?)(x?)@/, (_all, name, mark) => `${name}${mark ? '' : 'x'}@`);
}

/** Every email address of a row of `users`. */
export function mailboxesIn({ email, attributes }: Row): string[] {
  const others = (attributes?.emails ?? []).map(({ value }: { value: string }) => value);
  return [...new Set<string>([...(email ? [email] : []), ...others])];
}

/** Random choices of one step, from its seed (mulberry32). */
export class Dice {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  of<T>(some: readonly T[]): T | undefined {
    return some[Math.floor(this.next() * some.length)];
  }
}

/** The claims of a JWT, unverified. */
export function claimsOf(jwt: unknown): Record<string, any> {
  return JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString() || '{}');
}

import { type DeviceKey, newDeviceKey } from '../../signin-browser.ts';
import { Browser } from '../browsers.ts';

/** A value that a party has seen, and the step at which it got it. */
export interface Seen {
  kind: string;
  text: string;
  step: number;
  /** Values that belong to it: the verifier of a code, the user code of a device code. */
  with: Record<string, string>;
}

/** Kinds that others can see: in URLs, on screens, in forwarded links and mails. */
const leaks = /^(flow|user-code|state|sid|user|address|client|device|session|app|enrolment|request-uri|delegation)$/;

/** A user with an account, who keeps every value that they have seen. */
export class Party {
  readonly browser: Browser;
  readonly bag: Seen[] = [];
  user = '';
  /** The next action of an honest user. */
  next = 'authorize';
  mustWait = false;
  isRevoked = false;
  key!: DeviceKey;
  nonce = '';
  /** Step of the last action by which an admin ended the user's open work. */
  endedStep = -1;
  readonly consents = new Set<string>();
  /** Every value that they ever sent, which replies may repeat. */
  readonly sent = new Set<string>();

  private constructor(
    readonly name: string,
    readonly address: string,
    browser: Browser,
  ) {
    this.browser = browser;
  }

  static async of(name: string, serial: string, index: number, ip: string): Promise<Party> {
    const party = new Party(name, `${name}${serial}@example.com`, new Browser(index, ip));
    party.key = await newDeviceKey();
    return party;
  }

  async renewKey(): Promise<void> {
    this.key = await newDeviceKey();
    this.isRevoked = false;
  }

  keep(kind: string, text: unknown, step: number, belongs: Record<string, string> = {}): void {
    if (typeof text !== 'string' || text === '') return;
    const known = this.bag.findIndex((one) => one.kind === kind && one.text === text);
    if (known >= 0) this.bag.splice(known, 1);
    this.bag.push({ kind, text, step, with: belongs });
  }

  last(kind: string): Seen | undefined {
    return this.bag.findLast((one) => one.kind === kind);
  }

  find(kind: string, text: string | undefined): Seen | undefined {
    return this.bag.find((one) => one.kind === kind && one.text === text);
  }

  leaked(): Seen[] {
    return this.bag.filter(({ kind }) => leaks.test(kind));
  }
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

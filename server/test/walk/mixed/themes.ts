import { Restorable } from '../checkpoint.ts';
import type { Model } from '../model.ts';
import type { Draft } from './draft.ts';
import type { MixedAdmin } from './mixed-admin.ts';
import type { Dice, Party } from './party.ts';
import type { Rules } from './rules.ts';

type Theme = 'tokens' | 'delegation' | 'address' | 'recovery' | 'setup';

/** Number of requests of each theme. `recovery` follows `delegation`: only a user with a factor can lose it. */
const cycle: [Theme, number][] = [
  ['tokens', 45],
  ['delegation', 25],
  ['recovery', 45],
  ['tokens', 45],
  ['setup', 30],
  ['address', 25],
];
const length = cycle.reduce((sum, [, requests]) => sum + requests, 0);

/** Both users follow the same flows for some time, so that their rare flows coincide. */
export class Themes extends Restorable {
  private theme: Theme = 'tokens';
  private requests: number;

  constructor(
    private readonly model: Model,
    private readonly admin: MixedAdmin,
    private readonly rules: Rules,
    dice: Dice,
  ) {
    super();
    this.requests = Math.floor(dice.next() * length);
  }

  /** Whether its flows are long. */
  get isShort(): boolean {
    return /^(recovery|setup|address)$/.test(this.theme);
  }

  /** Whether the request is the last one of its flow. */
  isEnd({ fields, path }: Draft): boolean {
    if (this.theme === 'address') return path.endsWith('/authorize/resume');
    return this.theme === 'recovery' && fields['otp']?.[0] === 'recovery';
  }

  /** Begins the next flow of a user at the end of the last one. Returns whether an admin acted. */
  async act(app: number, party: Party, dice: Dice): Promise<boolean> {
    const { theme } = this;
    this.requests += 1;
    this.theme = themeAt(this.requests % length);
    if (this.theme === 'setup' && theme !== 'setup') {
      await this.admin.mint(dice);
      return true;
    }
    if (party.next !== 'authorize' && !this.isInterrupted(party)) return false;
    if (this.theme === 'recovery') return this.recovery(app, party, dice);
    if (this.theme === 'address') party.next = this.rules.addresses.nextOf(party, dice);
    if (this.theme === 'delegation') party.next = dice.next() < 0.3 ? 'delegate-read' : 'delegate-begin';
    return false;
  }

  /**
   * Whether the flow of the theme precedes the next request: it begins under a session, and requests with tokens can
   * wait.
   */
  private isInterrupted({ next }: Party): boolean {
    return (
      this.theme === 'address' && /^(exchange|userinfo|refresh|revoke|par|device-.*|account|delegate-.*)$/.test(next)
    );
  }

  private async recovery(app: number, party: Party, dice: Dice): Promise<boolean> {
    const last = party.last('recovery');
    if (last?.isSpent === false) return false;
    if (last && !party.isRetrying && dice.next() < 0.5) {
      party.isRetrying = true;
      await this.admin.lose(party);
      return false;
    }
    party.isRetrying = false;
    if (this.model.factorsOf(party.user).length > 0) {
      await this.admin.recover(app, party, dice);
      return true;
    }
    party.next = 'delegate-begin';
    return false;
  }
}

function themeAt(request: number): Theme {
  let left = request;
  for (const [theme, requests] of cycle) {
    if (left < requests) return theme;
    left -= requests;
  }
  return 'tokens';
}

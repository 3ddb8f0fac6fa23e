import type { Clock } from '../../kernel/clock.ts';
import { seconds } from '../../kernel/clock.ts';
import type { Vault } from '../../keys/vault.ts';

/** A nonce is valid in its window and the next one: for 5 to 10 minutes. */
const windowSeconds = 300;
const purpose = 'dpop-nonce';

/**
 * Nonces of DPoP proofs (RFC 9449 section 8): keyed hashes of the time, so that every process of the instance accepts
 * them and nothing is stored. One for all issuers, since clients keep nonces by origin; `htu` names the issuer.
 */
export class DpopNonces {
  constructor(private readonly deps: { clock: Clock; vault: Vault }) {}

  /** The nonce that new proofs use. */
  current(): string {
    return this.deps.vault.mac(purpose, '', String(this.window()));
  }

  isValid(nonce: string): boolean {
    const now = this.window();
    // The clock of another process may be ahead.
    return [now, now - 1, now + 1].some((window) => this.deps.vault.matches(purpose, '', String(window), nonce));
  }

  private window(): number {
    return Math.floor(seconds(this.deps.clock.now()) / windowSeconds);
  }
}

import { expect } from 'vitest';
import type { SoftAuthenticator } from './authenticator.ts';
import { HostedBrowser } from './hosted-browser.ts';
import type { StepAnswer } from './signin-browser.ts';
import { expectStatus, type SigninWorld } from './signin-world.ts';

/** Visits of the sign-in page by the user of a test of passkeys. @param current the address and authenticator of this test */
export function passkeyVisits(world: SigninWorld, current: () => { userid: string; authenticator: SoftAuthenticator }) {
  const open = async (over: Record<string, string | undefined> = {}): Promise<HostedBrowser> => {
    const hosted = new HostedBrowser(world, current().authenticator);
    await hosted.open(over);
    return hosted;
  };
  /** Makes a user with a passkey. */
  const enrolled = async (over: Record<string, unknown> = {}): Promise<void> => {
    const hosted = await open();
    expect(expectStatus(await hosted.register(current().userid), 'SUCCESS')['passkey_offer']).toBe(true);
    expectStatus(await hosted.addPasskey(over), 'PASSKEY_REGISTERED');
  };
  /** Signs in by mail code in a new browser, as an attacker who reads the user's mail can. */
  const byMail = async (
    fields: Record<string, unknown> = {},
  ): Promise<{ hosted: HostedBrowser; answer: StepAnswer }> => {
    const { userid } = current();
    const hosted = await open();
    await world.verifyAddress(hosted.page, userid);
    return { hosted, answer: await hosted.page.step('verify-device', { userid, ...fields }, 'registration') };
  };
  return { open, enrolled, byMail };
}
